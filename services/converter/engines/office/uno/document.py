"""Loads a document, prepares it, and writes it in another format."""

import os

import uno
import unohelper
from com.sun.star.beans import PropertyValue
from com.sun.star.lang import DisposedException
from com.sun.star.task import XInteractionAbort, XInteractionDisapprove, XInteractionHandler

# Never run a macro, never follow a link: what the profile says, said once more for each document.
LOAD = {'Hidden': True, 'ReadOnly': True, 'MacroExecutionMode': 0, 'UpdateDocMode': 0}

SLIDES = ('com.sun.star.presentation.PresentationDocument', 'com.sun.star.drawing.DrawingDocument')


class Refused(Exception):
    """The document cannot be converted; `cause` is one word of the protocol."""

    def __init__(self, cause, detail=''):
        super().__init__(cause)
        self.cause = cause
        self.detail = detail


class Questions(unohelper.Base, XInteractionHandler):
    """Answers no to everything, and remembers whether a password was asked for."""

    def __init__(self):
        self.password_asked = False

    def handle(self, request):
        """The request itself cannot be read from here, only what one may answer to it."""
        answers = request.getContinuations()
        if any(hasattr(answer, 'setPassword') for answer in answers):
            self.password_asked = True
        for kind in (XInteractionAbort, XInteractionDisapprove):
            for answer in answers:
                if any(known.typeName == kind.__pyunointerface__ for known in answer.getTypes()):
                    answer.select()
                    return


def properties(values):
    """Named values as the suite wants them; a dictionary inside becomes a list of its own."""
    return tuple(
        PropertyValue(name, 0, uno.Any('[]com.sun.star.beans.PropertyValue', properties(value)) if isinstance(value, dict) else value, 0)
        for name, value in values.items()
    )


def load(suite, path, task):
    """Reads a document with the filter that was asked for, and no other. Raises Refused."""
    wanted = dict(LOAD, FilterName=task['import_filter'])
    if 'import_options' in task:
        wanted['FilterOptions'] = task['import_options']
    if 'password' not in task:
        return open_or_refuse(suite, path, wanted)
    try:
        return open_or_refuse(suite, path, dict(wanted, Password=task['password']))
    except Refused:
        # Some formats do not say that the password was wrong; without one they ask for it.
        close(open_or_refuse(suite, path, wanted))
        raise


def open_or_refuse(suite, path, wanted):
    """Opens a document. Raises Refused."""
    questions = Questions()
    document, detail = None, ''
    try:
        document = suite.desktop.loadComponentFromURL(uno.systemPathToFileUrl(path), '_blank', 0, properties(dict(wanted, InteractionHandler=questions)))
    except Exception as error:  # The suite throws whatever it likes; what is left of it is looked at next.
        detail = f'{type(error).__name__} {error}'
        suite.raise_if_dead(wait=isinstance(error, DisposedException))
    if document is None:
        raise Refused('password' if questions.password_asked else 'damaged', detail)
    return document


def close(document):
    """Forgets a document; one that refuses is left to the end of this process."""
    try:
        if document is not None:
            document.close(True)
    except Exception:
        pass


def prepare(document, task):
    """
    Puts the pages into the shape that was asked for, and counts them where that matters. Returns the pages to write as
    the suite writes ranges, None for all. Raises Refused.
    """
    if 'page_style' in task and not is_slides(document):
        for style in page_styles(document):
            shape(style, task['page_style'])
    if 'sheet' in task and task['sheet'] > document.getSheets().getCount():
        raise Refused('sheet_not_found')
    if 'pages_max' not in task:
        return None
    pages = document.getDrawPages().getCount() if is_slides(document) else document.getRendererCount(document, ())
    if pages > task['pages_max']:
        raise Refused('too_many_pages')
    ranges = task.get('page_ranges', [])
    if any(first > pages for first, _ in ranges):
        raise Refused('page_not_found')
    return ','.join(f'{first}-{min(last or pages, pages)}' for first, last in ranges) or None


def shape(style, wanted):
    """Changes one page style. The sides change before the orientation, which only says how they are called."""
    landscape = wanted.get('landscape', style.IsLandscape)
    short, long = wanted.get('paper', sorted((style.Width, style.Height)))
    style.IsLandscape = landscape
    style.Width, style.Height = (long, short) if landscape else (short, long)
    if wanted.get('fit_to_width'):
        style.ScaleToPagesX, style.ScaleToPagesY = 1, 0


def page_styles(document):
    """The page styles of a text or a spreadsheet."""
    styles = document.getStyleFamilies().getByName('PageStyles')
    return tuple(styles.getByIndex(index) for index in range(styles.getCount()))


def is_slides(document):
    """Whether the document consists of slides or drawings, whose size is part of what is drawn on them."""
    return any(document.supportsService(kind) for kind in SLIDES)


def store(document, path, task, pages):
    """Writes the document; `pages` is what `prepare` returned."""
    data = task.get('export_data', {})
    if pages is not None:
        data = dict(data, PageRange=pages)
    wanted = {'FilterName': task['export_filter'], 'Overwrite': True, 'FilterData': data}
    if 'export_options' in task:
        wanted['FilterOptions'] = task['export_options']
    if 'result_password' in task:
        wanted['Password'] = task['result_password']
    there = set(os.listdir(os.path.dirname(path)))
    document.storeToURL(uno.systemPathToFileUrl(path), properties(wanted))
    if 'sheet' in task:
        # A filter that is told which sheet to write adds the sheet's name to that of the file.
        made, = set(os.listdir(os.path.dirname(path))) - there
        os.rename(os.path.join(os.path.dirname(path), made), path)
