"""The company of every simulator and of the demo: its people, projects, customers, suppliers and products.

A person has the same address in mail, Slack, Drive, calendar, GitHub, Notion, Linear, Canvas and the database; the login
there is what stands before the `@`. Stations have the serial numbers NI-1000 to NI-1099. Everything happens between FIRST and
the end of the year, mirage.bench.demo.NOW.
"""
from __future__ import annotations

from datetime import UTC, datetime

COMPANY = "Norrsken Instruments"
FIRST = datetime(2025, 10, 1, 8, 0, tzinfo=UTC)
ME = "Mara Lindqvist <mara@norrsken.example>"
MY_TITLE = "Managing director"
FOUNDER = "Gunnar Åkesson <gunnar@norrsken.example>"         # left in 2025
PEOPLE = ("Jonas Weiß <jonas@norrsken.example>", "Priya Raman <priya@norrsken.example>",
          "Aïcha Benali <aicha@norrsken.example>", "Søren Dahl <soren@norrsken.example>",
          "Łukasz Nowak <lukasz@norrsken.example>", "Elena García <elena@norrsken.example>")
TITLES = ("Firmware", "Cloud platform", "Finance & HR", "Field service", "Operations", "Sales")     # of PEOPLE
SUPPLIERS = (("Hagen Metallbau GmbH", "billing@hagen-metallbau.example", "mast segments", 412.0),
             ("Kisho Sensors K.K.", "accounts@kisho.example", "humidity sensors", 96.5),
             ("Nordlys Logistics AS", "faktura@nordlys.example", "freight to Bergen and Tromsø", 180.0),
             ("Café Zentral", "buero@cafe-zentral.example", "catering", 74.0),
             ("CloudHarbor", "billing@cloudharbor.example", "hosting", 129.0),
             ("Papeterie Müller & Söhne", "rechnung@papeterie-mueller.example", "office supplies", 38.0))
CUSTOMERS = (("Ingrid Solheim", "ingrid@bergenhavn.example"), ("Tomás Herrera", "tomas@agrolluvia.example"),
             ("Fiona McAllister", "fiona@skyefarms.example"), ("Dr. Jürgen Köhler", "koehler@uni-halle.example"),
             ("Chiara Rossi", "c.rossi@portotrieste.example"), ("Mei-Ling Chen", "meiling@typhoonwatch.example"))
CUSTOMER_NAMES = ("Bergen Harbour", "Agro Lluvia", "Skye Farms", "University of Halle", "Porto di Trieste", "Typhoon Watch")
PROJECTS = {
    "Apollo": (
        ("Kickoff", "welcome to Apollo, our first station without moving parts. The budget is EUR 240,000 until September."),
        ("Ultrasonic sensor choice", "we compared three ultrasonic sensors. The one from Kisho drifts least; samples cost 96.50 each."),
        ("Enclosure prototype", "the printed enclosure leaks at the cable gland. A second prototype arrives on Tuesday."),
        ("Firmware milestone 1", "the firmware reads all sensors in 40 ms. Power use is still 30 percent above target."),
        ("Budget review", "we have spent EUR 88,400 so far. Certification will cost more than planned."),
        ("Field test in Abisko", "three stations survive minus 31 degrees. One lost its radio link for six hours."),
        ("Radio certification", "the lab found spurious emissions at 868 MHz. We need a new filter before we go back."),
        ("Supplier delay", "Hagen cannot deliver the masts before 12 June because of a strike."),
        ("Pilot customers", "Bergen Harbour and the University of Halle will test the pilot series."),
        ("Manual and translations", "the manual is done in English; German, Spanish and Japanese are with the agency."),
        ("Launch date", "I propose to launch on 28 September, with the fair in Hamburg. Objections?"),
        ("Price list", "the list price is EUR 2,490; from ten stations on EUR 2,340. Please confirm."),
        ("Press release", "the draft of the press release is in the notes. Numbers still need your approval."),
        ("Retrospective", "what went well, what did not: please add three lines each before Friday."),
    ),
    "Borealis": (
        ("Data platform kickoff", "Borealis replaces the old data platform. Customers keep their addresses."),
        ("Database choice", "PostgreSQL with partitions handled two years of measurements in our test."),
        ("Migration plan", "we migrate 212 customers in four groups, smallest first."),
        ("Outage on 3 March", "the outage lasted 47 minutes. A certificate had expired; monitoring did not see it."),
        ("API limits", "ten requests a minute are too few for the big customers. I suggest sixty."),
        ("Dashboard feedback", "the pilot users love the map and hate the login."),
        ("Security audit", "the audit found one serious issue: tokens in log files. It is fixed and the logs are gone."),
        ("Cost of hosting", "hosting costs EUR 129 a month per region; CloudHarbor offers a discount for a year."),
        ("Backup test", "restoring the backup took 3 hours and 20 minutes. The goal was two."),
        ("Go live", "the last group of customers is on Borealis. The old platform is switched off on Sunday."),
    ),
}


def parts(person: str) -> tuple[str, str, str]:
    """(name, address, login) of `Name <login@norrsken.example>`."""
    name, _, address = person.partition(" <")
    address = address.rstrip(">")
    return name, address, address.partition("@")[0]
