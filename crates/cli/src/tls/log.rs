//! The access log and the reports of a server, written by a thread of their own: who reads them slowly keeps no connection waiting.

use crate::console::{Console, report_line, write_to_stderr};
use crate::error::Error;
use crate::files::is_stream;
use prometheus_client::metrics::counter::Counter;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most lines that wait to be written; more are lost, and counted.
const WAITING: usize = 8192;
/// How long the end waits for whoever reads.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is told.
enum Line {
    Connection(Value),
    Event {
        text: String,
        json: Value,
    },
    /// Something is wrong: also on standard error.
    Trouble {
        text: String,
        json: Value,
    },
    /// The file may have been moved away.
    Reopen,
    End,
}

/// Where lines go.
pub(super) struct Log {
    lines: SyncSender<Line>,
    writer: Mutex<Option<JoinHandle<()>>>,
    lost: Counter,
}

/// Who writes.
struct Writer {
    console: Console,
    path: PathBuf,
    file: Box<dyn Write + Send>,
}

impl Log {
    /// Opens the file, or standard output, and starts the thread; `lost` counts lines that nobody could take. Without a file there are
    /// reports alone.
    pub(super) fn start(console: Console, path: Option<&Path>, lost: Counter) -> Result<Self, Error> {
        let file = path.map_or_else(
            || Ok(Box::new(io::sink()) as Box<dyn Write + Send>),
            |path| {
                // The log is put at the end of the file, which must not be a certificate or a key.
                crate::guard::refuse(path)?;
                open(path).map_err(|error| Error::creating(path, &error))
            },
        )?;
        let path = path.unwrap_or(Path::new(""));
        let (lines, waiting) = sync_channel(WAITING);
        let writer = Writer { console, path: path.to_owned(), file };
        let thread = thread::Builder::new().name("log".into()).spawn(move || writer.run(&waiting));
        let thread = thread.map_err(|error| Error::stream(&"the thread of the log", &error))?;
        Ok(Self { lines, writer: Mutex::new(Some(thread)), lost })
    }

    pub(super) fn connection(&self, line: Value) {
        self.send(Line::Connection(line));
    }

    pub(super) fn event(&self, text: impl Into<String>, json: Value) {
        self.send(Line::Event { text: text.into(), json });
    }

    pub(super) fn trouble(&self, text: impl Into<String>, json: Value) {
        self.send(Line::Trouble { text: text.into(), json });
    }

    /// Says which lists stay although their files have older ones.
    pub(super) fn kept(&self, lists: Vec<String>) {
        for text in lists {
            let json = json!({"type": "older-list", "detail": text});
            self.trouble(text, json);
        }
    }

    pub(super) fn reopen(&self) {
        self.send(Line::Reopen);
    }

    fn send(&self, line: Line) {
        if self.lines.try_send(line).is_err() {
            self.lost.inc();
        }
    }

    /// Writes what waits, and ends the thread. Whoever has stopped reading is not waited for.
    pub(super) fn end(&self) {
        let until = Instant::now() + PATIENCE;
        let patient = || {
            thread::sleep(Duration::from_millis(10));
            Instant::now() < until
        };
        // A thread that has gone needs no word.
        while matches!(self.lines.try_send(Line::End), Err(TrySendError::Full(_))) && patient() {}
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            while !writer.is_finished() && patient() {}
        }
    }
}

/// The file at its end, or standard output.
fn open(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    if is_stream(path) {
        return Ok(Box::new(io::stdout()));
    }
    let file: File = OpenOptions::new().append(true).create(true).open(path)?;
    Ok(Box::new(BufWriter::new(file)))
}

impl Writer {
    fn run(mut self, waiting: &Receiver<Line>) {
        loop {
            let line = match waiting.try_recv() {
                Ok(line) => line,
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {
                    self.written(|file| file.flush());
                    match waiting.recv() {
                        Ok(line) => line,
                        Err(_) => return,
                    }
                }
            };
            // The reader of our reports may be gone; connections go on.
            match line {
                Line::Connection(line) => self.written(|file| writeln!(file, "{}", report_line(line))),
                Line::Event { text, json } => drop(self.console.report(text, json)),
                Line::Trouble { text, json } => {
                    write_to_stderr(format_args!("gambeson: {text}"));
                    let _ = self.console.report_json(json);
                }
                Line::Reopen => {
                    self.written(|file| file.flush());
                    match open(&self.path) {
                        Ok(file) => self.file = file,
                        Err(error) => self.complain(&error),
                    }
                }
                Line::End => return self.written(|file| file.flush()),
            }
        }
    }

    fn written(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        match write(&mut *self.file) {
            // Nobody reads standard output any more.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => self.complain(&error),
            _ => {}
        }
    }

    fn complain(&self, error: &io::Error) {
        write_to_stderr(format_args!("gambeson: {}", Error::creating(&self.path, error)));
    }
}
