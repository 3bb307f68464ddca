"""A year in the mailbox of Mara Lindqvist, who runs Norrsken Instruments, a small maker of weather stations."""
from __future__ import annotations

import hashlib
import random
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from mirage.bench.company import COMPANY, CUSTOMERS, ME, PEOPLE, PROJECTS, SUPPLIERS, parts
from mirage.bench.demo import NOW
from mirage.bench.services.gmail import mime
from mirage.bench.services.gmail.files import big, calendar, csv_lines, docx, pdf, png, schedule, zipped
from mirage.bench.services.gmail.texts import BUILDS, NEWS, PRIVATE, REPLIES, SPAM, TICKETS, WEEKLY

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.bench.services.gmail.mailbox import Mailbox

ADDRESS = parts(ME)[1]
OWNER = ME
FIRST = datetime(2025, 10, 1, 8, 0, tzinfo=UTC)
DAYS = 364
__all__ = ["ADDRESS", "NOW", "fill"]
PDF, CSV = "application/pdf", "text/csv"


class Draft:
    """One message before it has its id."""

    __slots__ = ("body", "cc", "date", "html", "id", "labels", "parts", "recipient", "sender", "subject", "thread")

    def __init__(self, date: datetime, sender: str, subject: str, body: str, labels: tuple[str, ...] = ("INBOX",), *,
                 recipient: str = OWNER, cc: str = "", html: bool = False, parts: tuple[mime.Part, ...] = (),
                 thread: str = "", id: str = "") -> None:
        self.date = date
        self.sender = sender
        self.recipient = recipient
        self.cc = cc
        self.subject = subject
        self.body = body
        self.labels = labels
        self.html = html
        self.parts = parts
        self.thread = thread
        self.id = id


def fill(mailbox: Mailbox, seed: int = 1, count: int = 600) -> None:
    """Put `count` messages into an empty mailbox. The same seed gives the same mailbox."""
    rng = random.Random(seed)
    drafts = [*_special(), *_year(rng)]
    fixed = len(_special())
    if count < len(drafts):
        rest = drafts[fixed:]
        rng.shuffle(rest)
        drafts = [*drafts[:fixed], *rest][:count]
    while len(drafts) < count:
        drafts.append(_note(rng, len(drafts)))
    drafts.sort(key=lambda d: d.date)
    _store(mailbox, drafts)


def _store(mailbox: Mailbox, drafts: list[Draft]) -> None:
    from mirage.bench.services.gmail.mailbox import SYSTEM, Stored
    threads: dict[str, str] = {}
    last: dict[str, str] = {}
    for number, d in enumerate(drafts):
        id = d.id or f"{0x19a0000000000000 + (number << 28) + int(_digest(d.subject + str(number))[:6], 16):x}"
        message_id = f"<{id}@{d.sender.rpartition('@')[2].rstrip('>')}>"
        headers = [("From", d.sender), ("To", d.recipient), ("Subject", d.subject),
                   ("Date", d.date.strftime("%a, %d %b %Y %H:%M:%S +0000")), ("Message-ID", message_id)]
        if d.cc:
            headers.insert(2, ("Cc", d.cc))
        if d.thread in last:
            headers += [("In-Reply-To", last[d.thread]), ("References", last[d.thread])]
        if d.thread:
            last[d.thread] = message_id
        labels = [name if name in SYSTEM else mailbox.add_label(name) for name in d.labels]
        if "INBOX" in labels and number > len(drafts) - 40 and number % 2:
            labels.append("UNREAD")
        body = mime.text("html" if d.html else "plain", d.body)
        if not d.html and number % 5 == 0:
            body = mime.Part("multipart/alternative", None, "", [body, mime.text("html", _as_html(d.body))])
        if d.parts:
            body = mime.Part("multipart/mixed", None, "", [body, *d.parts])
        thread = threads.setdefault(d.thread, id) if d.thread else id
        mailbox.add(Stored(id, thread, labels, int(d.date.timestamp() * 1000), headers, body))
        if "DRAFT" in labels:
            mailbox.drafts[f"r{int(id, 16)}"] = id


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _as_html(text: str) -> str:
    return "<div>" + text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>\n") + "</div>"


def _at(day: float, hour: int = 9, minute: int = 0) -> datetime:
    return FIRST + timedelta(days=int(day), hours=hour - 8, minutes=minute)


def _file(name: str, kind: str, make: Callable[..., bytes], *args: object) -> mime.Part:
    return mime.Part(kind, partial(make, *args), name)


def _year(rng: random.Random) -> list[Draft]:
    return [*_invoices(rng), *_projects(rng), *_weekly(), *_tickets(rng), *_news(rng), *_builds(rng), *_people(rng),
            *_waste(rng)]


def _invoices(rng: random.Random) -> list[Draft]:
    found = []
    for month in range(12):
        for n, (name, address, item, price) in enumerate(SUPPLIERS):
            day = month * 30.3 + 2 + n * 3 % 11
            number = f"{2025 + (month + 9) // 12}-{(month + 9) % 12 + 1:02d}{n + 1:02d}"
            amount = price * rng.randint(1, 6) + rng.randint(0, 99) / 100
            text = (f"Dear Mara,\n\nplease find attached invoice {number} for {item}.\n\nAmount due: EUR {amount:,.2f}\n"
                    f"Payment within 30 days to the account on the invoice.\n\nKind regards\n{name}\n")
            parts = [_file(f"invoice-{number}.pdf", PDF, pdf, f"Invoice {number}", text)]
            if n % 3 == 0:
                parts.append(_file(f"lines-{number}.csv", CSV, csv_lines, number, item, amount))
            found.append(Draft(_at(day, 7 + n, 13 * n % 60), f"{name} <{address}>", f"Invoice {number}", text,
                               ("INBOX", "Invoices") if month > 9 else ("Invoices",), parts=tuple(parts),
                               thread=f"invoice {number}"))
            if rng.random() < 0.2:
                reminder = Draft(_at(min(day + 34, DAYS), 10), f"{name} <{address}>", f"Reminder: invoice {number} is overdue",
                                 f"Dear Mara,\n\nwe could not find your payment of EUR {amount:,.2f} for invoice {number}.\n"
                                 "If you have paid in the meantime, please ignore this message.\n", ("INBOX", "Invoices"),
                                 thread=f"invoice {number}")
                found.append(reminder)
                if rng.random() < 0.4:                       # sent twice by mistake
                    found.append(Draft(reminder.date, reminder.sender, reminder.subject, reminder.body, reminder.labels,
                                       thread=reminder.thread))
    return found


def _projects(rng: random.Random) -> list[Draft]:
    found = []
    for project, topics in PROJECTS.items():
        label = f"Projects/{project}"
        for n, (topic, opening) in enumerate(topics):
            day = 8 + n * (DAYS - 20) / len(topics) + rng.randint(0, 5)
            starter = PEOPLE[n % len(PEOPLE)]
            subject = f"[{project}] {topic}"
            thread = f"{project} {topic}"
            parts = (_file(f"{project.lower()}-{n + 1}-notes.md", "text/markdown", _notes, project, topic, opening),) \
                if n % 3 == 1 else ()
            found.append(Draft(_at(day, 9, n), starter, subject, f"Hi Mara,\n\n{opening}\n\nBest\n{_first(starter)}\n",
                               (label, "INBOX") if n > 7 else (label,), cc=PEOPLE[(n + 1) % len(PEOPLE)], parts=parts,
                               thread=thread))
            for turn in range(rng.randint(2, 6)):
                mine = turn % 2 == 0
                who = OWNER if mine else PEOPLE[(n + turn) % len(PEOPLE)]
                text = REPLIES[rng.randrange(len(REPLIES))].format(topic=topic.lower(), project=project)
                found.append(Draft(_at(day + turn // 2, 11 + turn, rng.randint(0, 59)), who, f"Re: {subject}",
                                   f"{text}\n\n{_first(who)}\n", ("SENT", label) if mine else (label,),
                                   recipient=starter if mine else OWNER, thread=thread))
    return found


def _first(person: str) -> str:
    return person.partition(" ")[0].strip('"')


def _notes(project: str, topic: str, text: str) -> bytes:
    return (f"# {project}: {topic}\n\n{text}\n\n## Open points\n\n- budget line for {topic.lower()}\n"
            "- who tests it on the roof\n- date of the next review\n").encode()


def _weekly() -> list[Draft]:
    found = []
    for week in range(52):
        who = PEOPLE[week % len(PEOPLE)]
        lines = "".join(f"<li>{line.format(week=week + 1)}</li>" for line in WEEKLY[week % len(WEEKLY)])
        body = (f"<html><head><style>li {{margin: 2px}}</style></head><body><h1>Week {week + 1}</h1><p>Hello all,&nbsp;this is "
                f"what happened at {COMPANY}:</p><ul>{lines}</ul><p>Gr&uuml;&szlig;e,<br>{_first(who)}</p></body></html>")
        found.append(Draft(_at(week * 7 + 2, 8, 30), who, f"Team update, week {week + 1}", body,
                           ("INBOX", "IMPORTANT") if week > 44 else (), recipient=f"team@{ADDRESS.partition('@')[2]}",
                           html=True))
    return found


def _tickets(rng: random.Random) -> list[Draft]:
    found = []
    for n in range(34):
        name, address = CUSTOMERS[n % len(CUSTOMERS)]
        title, text = TICKETS[n % len(TICKETS)]
        day, thread = 3 + n * 10.5, f"ticket {n}"
        serial = f"NI-{4000 + n * 37}"
        starred = ("STARRED",) if n % 9 == 4 else ()
        parts = (_file("station.png", "image/png", png, n),) if n % 4 == 0 else ()
        subject = f"{title} ({serial})"
        found.append(Draft(_at(day, 13, n), f"{name} <{address}>", subject, text.format(serial=serial, name=name),
                           ("Customers", *starred) if n < 24 else ("INBOX", "Customers", *starred), parts=parts,
                           thread=thread))
        answer = rng.choice(("We will send a replacement this week.", "Please update to firmware 2.4 and restart it.",
                             "That is covered by the warranty; a courier will collect it."))
        found.append(Draft(_at(day + 1, 10, n), OWNER, f"Re: {subject}", f"Dear {name},\n\nthank you for writing. {answer}\n\n"
                           "Mara\n", ("SENT", "Customers"), recipient=f"{name} <{address}>", thread=thread))
    return found


def _news(rng: random.Random) -> list[Draft]:
    found = []
    for n in range(40):
        name, address, title, text = NEWS[n % len(NEWS)]
        body = (f"<html><body><table><tr><td><h2>{title}</h2></td></tr><tr><td>{text}</td></tr></table>"
                f"<script>track({n})</script><p><a href='https://news.example/{n}'>Read more</a></p></body></html>")
        found.append(Draft(_at(1 + n * 9, 6, rng.randint(0, 59)), f"{name} <{address}>", f"{title} #{n + 1}", body,
                           ("CATEGORY_PROMOTIONS",) if n % 2 else ("INBOX", "CATEGORY_UPDATES"), html=True))
    return found


def _builds(rng: random.Random) -> list[Draft]:
    found = []
    for n in range(50):
        branch, step, reason = BUILDS[n % len(BUILDS)]
        bad = rng.random() < 0.6
        word = "failed" if bad else "fixed"
        found.append(Draft(_at(2 + n * 7.2, 15, rng.randint(0, 59)), "Build server <build@norrsken.example>",
                           f"build {1000 + n}: {branch} {word}", f"Job:    {step}\nBranch: {branch}\nResult: {word}\n"
                           + (f"Error:  {reason}\n" if bad else ""), ("Alerts",)))
    return found


def _people(rng: random.Random) -> list[Draft]:
    names = ["Noémie Lefèvre", "Håkon Berg", "Zoë O'Connor", "Nguyễn Thị Hà", "Ömer Yıldız", "Anna Kowalczyk", "Ravi Iyer",
             "Giulia Ricci"]
    found = []
    for n, name in enumerate(names):
        address = f"{_digest(name)[:6]}@post.example"
        role = ("firmware engineer", "support", "sales")[n % 3]
        found.append(Draft(_at(20 + n * 41, 12), f"{name} <{address}>", f"Application: {role}",
                           f"Dear Ms Lindqvist,\n\nI would like to apply as {role}. My CV is attached.\n\n{name}\n", ("HR",),
                           parts=(_file(f"CV {name}.docx",
                                        "application/vnd.openxmlformats-officedocument.wordprocessingml.document", docx, name),
                                  _file("certificates.zip", "application/zip", zipped, name)), thread=f"hr {n}"))
        if rng.random() < 0.6:
            found.append(Draft(_at(24 + n * 41, 9), OWNER, f"Re: Application: {role}", f"Dear {name},\n\ncould you come to our "
                               "office next Thursday at 14:00?\n\nMara Lindqvist\n", ("SENT", "HR"),
                               recipient=f"{name} <{address}>", thread=f"hr {n}"))
    return found


def _waste(rng: random.Random) -> list[Draft]:
    found = []
    for n in range(24):
        sender, subject, text = SPAM[n % len(SPAM)]
        found.append(Draft(_at(330 + n * 1.3, 3, rng.randint(0, 59)), sender, subject, text, ("SPAM",)))
    for n in range(16):
        found.append(Draft(_at(320 + n * 2, 19), PEOPLE[n % len(PEOPLE)], PRIVATE[n % len(PRIVATE)],
                           "Never mind, this is settled.\n", ("TRASH",)))
    for n, (topic, text) in enumerate((("Offer for Bergen Harbour", "Dear Ingrid,\n\nwe can offer 12 stations at EUR 2,340 each.\n"),
                                       ("", "Notes for the board: margins, hiring, Apollo budget\n"),
                                       ("Re: Warranty", "Dear Tomás,\n\n"), ("Holiday list", "Søren: week 31\nPriya: week 33\n"))):
        found.append(Draft(_at(355 + n * 2, 18), OWNER, topic, text, ("DRAFT",),
                           recipient="" if not topic else "ingrid@bergenhavn.example"))
    return found


def _special() -> list[Draft]:
    """Messages that test what must not break; their number and ids do not depend on the seed."""
    inner = mime.to_bytes([("From", "jonas@norrsken.example"), ("Subject", "calibration values"), ("To", ADDRESS)],
                          mime.text("plain", "The offset is 0.42 kelvin.\n"))
    return [
        Draft(datetime(2026, 9, 9, 7, 15, tzinfo=UTC), "Alpine Training Institute <office@alpine-training.example>",
              "Course_Schedule_Notification", "Dear Ms Lindqvist,\n\nplease find attached the schedule of this autumn's courses. "
              "Seats are kept for your team until 15 September.\n\nAlpine Training Institute\n", ("INBOX",),
              parts=(_file("course_schedule.md", "text/markdown", schedule),), id="6"),
        Draft(_at(350, 9), PEOPLE[2], "", "No subject, only a question: is the invoice for the anemometers paid?\n"),
        Draft(_at(351, 9), PEOPLE[1], "Q3/Q4 plan: sales\\support / 50% off?", "See the plan in the wiki.\n"),
        Draft(_at(352, 9), "Old mailer <mailer@legacy.example>", "Two\nlines in\ta subject", "Sent by a very old program.\n"),
        Draft(_at(353, 9), "田中 美咲 <misaki.tanaka@kisho.example>", "見積書のご送付 — 気象センサー", "マラ様\n\n見積書をお送りします。\n\n田中\n",
              parts=(_file("見積書.pdf", PDF, pdf, "Quotation", "12 sensors"),)),
        Draft(_at(354, 9), PEOPLE[3], "🎉 Apollo ships! 🚀", "Champagne at four. Everybody is invited.\n", ("INBOX", "Projects/Apollo")),
        Draft(_at(355, 9), PEOPLE[4], "A very long subject about " + "the measurement of wind and rain and " * 8 + "more",
              "Short text.\n"),
        Draft(_at(356, 9), PEOPLE[0], "Drone footage of the test field", "The recording is attached. It is large.\n",
              parts=(_file("test-field.bin", "application/octet-stream", big, 10 << 20),)),
        Draft(_at(357, 9), PEOPLE[5], "Two files of one name", "Both are called report.txt.\n",
              parts=(_file("report.txt", "text/plain", bytes, b"first report\n"),
                     _file("report.txt", "text/plain", bytes, b"second report\n"),
                     _file("a/b.txt", "text/plain", bytes, b"a name with a slash\n"))),
        Draft(_at(358, 9), PEOPLE[1], "Invitation: Apollo review", "When: 1 October 2026, 10:00\n",
              parts=(_file("invite.ics", "text/calendar", calendar, "Apollo review"),)),
        Draft(_at(359, 9), PEOPLE[0], "Fwd: calibration values", "As discussed.\n",
              parts=(mime.Part("message/rfc822", partial(bytes, inner), "calibration values.eml"),)),
        Draft(_at(360, 9), "Elena García <elena@norrsken.example>", "Política de vacaciones",
              "<p>Hola&nbsp;Mara,</p><p>la pol&iacute;tica est&aacute; <b>lista</b>.</p><table><tr><th>Mes</th><th>D&iacute;as</th></tr>"
              "<tr><td>Agosto</td><td>20</td></tr></table><p>Un saludo &amp; gracias</p>", html=True),
    ]


def _note(rng: random.Random, number: int) -> Draft:
    who = PEOPLE[number % len(PEOPLE)]
    text = REPLIES[rng.randrange(len(REPLIES))].format(topic="the shop", project="Norrsken")
    return Draft(_at(rng.uniform(0, DAYS), 8 + number % 9, number % 60), who, PRIVATE[number % len(PRIVATE)],
                 f"{text}\n\n{_first(who)}\n", () if number % 3 else ("INBOX",))
