"""Starts a LibreOffice without windows and connects to it."""

import os
import subprocess
import time

import uno
from com.sun.star.connection import NoConnectException

# A fresh profile on a busy machine takes a few seconds; whoever started us gives up at last.
START_SECONDS_MAX = 60
# Between two attempts to connect; the suite is there within a fifth of a second.
CONNECT_AGAIN_SECONDS = 0.01
# With this exit code the suite asks to be started again, once it has made its profile.
EXIT_START_AGAIN = 81
# Seconds in which a suite whose connection broke must be gone, so that its end can be told.
END_SECONDS_MAX = 5


class SuiteDied(Exception):
    """The suite ended; `returncode` is that of `subprocess`, negative for a signal."""

    def __init__(self, returncode):
        super().__init__(returncode)
        self.returncode = returncode


class Suite:
    """A running suite with a profile of its own below the working folder."""

    def __init__(self, soffice, profile, temp, pipe):
        folder = os.getcwd()
        self._temp = os.path.join(folder, temp)
        address = f'pipe,name={pipe};urp;StarOffice.ComponentContext'
        self._command = [
            soffice, '-env:UserInstallation=' + uno.systemPathToFileUrl(os.path.join(folder, profile)),
            '--headless', '--invisible', '--norestore', '--nolockcheck', '--nodefault', '--nologo', '--nofirststartwizard',
            '--accept=' + address,
        ]
        self._environment = dict(os.environ, HOME=self._temp, TMPDIR=self._temp, SAL_USE_VCLPLUGIN='svp', LC_ALL='C.UTF-8')
        self._process = self._start()
        self._context = self._connect('uno:' + address)
        self.desktop = self.create('com.sun.star.frame.Desktop')

    def create(self, service):
        """An object of the suite by the name of its service."""
        return self._context.ServiceManager.createInstanceWithContext(service, self._context)

    def version(self):
        """The version of the suite, such as 25.2.3.2."""
        provider = self.create('com.sun.star.configuration.ConfigurationProvider')
        path = uno.createUnoStruct('com.sun.star.beans.NamedValue', 'nodepath', '/org.openoffice.Setup/Product')
        access = provider.createInstanceWithArguments('com.sun.star.configuration.ConfigurationAccess', (path,))
        return access.getByName('ooSetupVersionAboutBox')

    def knows_filter(self, name):
        """Whether the component that reads or writes this format is installed."""
        return self.create('com.sun.star.document.FilterFactory').hasByName(name)

    def memory_bytes(self):
        """What the suite has in memory now."""
        return self._status('VmRSS')

    def memory_peak_bytes(self):
        """The most it ever had in memory."""
        return self._status('VmHWM')

    def raise_if_dead(self, wait=False):
        """Raises SuiteDied when the suite has ended; `wait` says that its connection broke, so it is about to."""
        try:
            returncode = self._process.wait(END_SECONDS_MAX) if wait else self._process.poll()
        except subprocess.TimeoutExpired:
            return
        if returncode is not None:
            raise SuiteDied(returncode)

    def _status(self, field):
        try:
            with open(f'/proc/{self._process.pid}/status', encoding='ascii') as status:
                line = next(line for line in status if line.startswith(field + ':'))
            return int(line.split()[1]) * 1024
        except (OSError, StopIteration):
            return 0

    def _start(self):
        return subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=self._environment, cwd=self._temp)

    def _connect(self, address):
        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext('com.sun.star.bridge.UnoUrlResolver', local)
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline:
            try:
                return resolver.resolve(address)
            except NoConnectException:
                returncode = self._process.poll()
                if returncode == EXIT_START_AGAIN:
                    self._process = self._start()
                elif returncode is not None:
                    raise SuiteDied(returncode) from None
                time.sleep(CONNECT_AGAIN_SECONDS)
        raise SuiteDied(None)
