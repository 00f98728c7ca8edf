"""
Lets a suite do once what the first document would have to wait for: its libraries, filters and fonts are loaded when
they are first used, which takes three times as long as a small document itself.
"""

import os

import uno
from document import close, properties

# What an empty document of each component is made with, saved as, and printed with.
ROUNDS = (
    ('swriter', 'MS Word 2007 XML', 'writer_pdf_Export'),
    ('scalc', 'Calc MS Excel 2007 XML', 'calc_pdf_Export'),
    ('simpress', 'Impress MS PowerPoint 2007 XML', 'impress_pdf_Export'),
)


def warm_up(suite, folder):
    """Writes, reads and prints a document of each component; what fails here fails for the first document, too."""
    saved, printed = (os.path.join(os.getcwd(), folder, name) for name in ('warm-up', 'warm-up.pdf'))
    for component, office, pdf in ROUNDS:
        document = None
        try:
            document = opened(suite, 'private:factory/' + component)
            if component == 'swriter':
                document.getText().setString('Fonts are loaded by a word.')
            stored(document, saved, office)
            close(document)
            document = opened(suite, uno.systemPathToFileUrl(saved), FilterName=office)
            stored(document, printed, pdf)
        except Exception:  # Not installed, or broken: said by who asks for the filters, and by the probe.
            suite.raise_if_dead()
        finally:
            close(document)


def opened(suite, url, **more):
    """A document that nobody sees."""
    return suite.desktop.loadComponentFromURL(url, '_blank', 0, properties(dict(more, Hidden=True)))


def stored(document, path, name):
    """Writes a document with a filter."""
    document.storeToURL(uno.systemPathToFileUrl(path), properties({'FilterName': name, 'Overwrite': True}))
