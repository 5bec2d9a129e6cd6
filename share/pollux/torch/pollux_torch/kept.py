"""Reports that nobody took are kept in a file for the supervisor that comes next.

pollux-report(1) has the form of the file.
"""

import os
import stat
import time


class KeptFile:
    """The file SOCKET.kept, to which the reports of this process are appended."""

    MAX_BYTES = 1 << 20  # a file of this size is begun anew
    EVERY_S = 0.05  # between steps that are kept

    def __init__(self, socket_path):
        self.socket_path = socket_path
        self.receiver = self.identity()
        self.kept_s = -self.EVERY_S
        self.checkpoint = self.position = None  # the last reports that are not in the file

    def identity(self):
        """What tells one receiver from another at the same path; None: there is none."""
        try:
            found = os.stat(self.socket_path)
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_ctime_ns

    def add(self, message, is_sent):
        """Remembers a report with a position or a checkpoint. Keeps it if it was not sent."""
        saves = b"CHECKPOINT=" in message
        now_s = time.monotonic()
        if saves:
            self.checkpoint = message
        else:
            self.position = message
        if not is_sent and (saves or now_s - self.kept_s >= self.EVERY_S):
            self.kept_s = now_s
            self.append()

    def end(self, socket, is_sent):
        """The end of the program: keeps the last reports if their receiver has not read them."""
        if self.texts() and not (is_sent and self.is_read(socket)):
            self.append()

    def texts(self):
        return [m for m in (self.checkpoint, self.position) if m is not None]

    def is_read(self, socket):
        import fcntl
        import struct
        import termios

        try:
            unread = struct.unpack("i", fcntl.ioctl(socket, termios.TIOCOUTQ, b"\0" * 4))[0]
            socket.connect(self.socket_path)
        except (OSError, AttributeError, TypeError):
            return False
        return unread == 0 and self.identity() == self.receiver

    def append(self):
        """Appends the last reports by one write, so that those of several processes do not mix."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            fd = os.open(self.socket_path + ".kept", flags, 0o600)
        except OSError:
            return
        try:
            found = os.fstat(fd)
            if stat.S_ISREG(found.st_mode):
                if found.st_size >= self.MAX_BYTES:
                    os.ftruncate(fd, 0)
                start = b"KEPT_NS=%d\n" % time.time_ns()
                os.write(fd, b"".join(start + text + b"\n" for text in self.texts()))
                self.checkpoint = self.position = None
        except OSError:
            pass
        finally:
            os.close(fd)
