"""What the people around Norrsken Instruments write."""
# ruff: noqa: E501
from __future__ import annotations

COMPANY = "Norrsken Instruments"
PEOPLE = ("Jonas Weiß <jonas@norrsken.example>", "Priya Raman <priya@norrsken.example>",
          "Aïcha Benali <aicha@norrsken.example>", "Søren Dahl <soren@norrsken.example>",
          "Łukasz Nowak <lukasz@norrsken.example>", "Elena García <elena@norrsken.example>")
SUPPLIERS = (("Hagen Metallbau GmbH", "billing@hagen-metallbau.example", "mast segments", 412.0),
             ("Kisho Sensors K.K.", "accounts@kisho.example", "humidity sensors", 96.5),
             ("Nordlys Logistics AS", "faktura@nordlys.example", "freight to Bergen and Tromsø", 180.0),
             ("Café Zentral", "buero@cafe-zentral.example", "catering", 74.0),
             ("CloudHarbor", "billing@cloudharbor.example", "hosting", 129.0),
             ("Papeterie Müller & Söhne", "rechnung@papeterie-mueller.example", "office supplies", 38.0))
CUSTOMERS = (("Ingrid Solheim", "ingrid@bergenhavn.example"), ("Tomás Herrera", "tomas@agrolluvia.example"),
             ("Fiona McAllister", "fiona@skyefarms.example"), ("Dr. Jürgen Köhler", "koehler@uni-halle.example"),
             ("Chiara Rossi", "c.rossi@portotrieste.example"), ("Mei-Ling Chen", "meiling@typhoonwatch.example"))
TICKETS = (("Station offline", "Hello,\n\nour station {serial} is offline since the storm last night. The green light blinks.\n\n{name}\n"),
           ("Wrong wind speed", "Hi,\n\nstation {serial} shows 90 km/h on a calm day. Is the anemometer broken?\n\n{name}\n"),
           ("Refund request", "Dear support,\n\nwe ordered one station too many ({serial}) and ask for a refund.\n\n{name}\n"),
           ("Question about the API", "Hello,\n\ncan we fetch the data of {serial} every minute? The documentation says ten.\n\n{name}\n"),
           ("Battery does not charge", "Hello,\n\nthe battery of {serial} stays at 11 percent in full sun.\n\n{name}\n"))
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
REPLIES = ("Thank you, I agree with the plan for {topic}.", "Can we talk about {topic} tomorrow? I have doubts about the date.",
           "Please send me the numbers behind {topic} before we decide.", "Good work. I told the board that {project} is on time.",
           "I am not sure about {topic}; what would it cost to wait until autumn?", "Søren has measured it again and gets other values.",
           "Approved. Please order what you need for {topic}.", "One question: who is responsible for {topic} while Priya is away?",
           "The customer asks about {topic}; what may I say?", "Let us keep {topic} as it is and look at it again in a month.")
WEEKLY = (("Week {week}: two stations sold in Scotland", "the roof test is done", "Elena is on holiday"),
          ("Week {week}: the lab is being painted", "support answered 31 questions", "Jonas fixed the rain gauge"),
          ("Week {week}: audit by the insurance", "new coffee machine &mdash; finally", "Priya speaks at the Hamburg fair"),
          ("Week {week}: three interviews for the firmware position", "Apollo: new prototype", "Borealis: second group migrated"))
NEWS = (("Sensor Weekly", "news@sensorweekly.example", "Sensor Weekly", "MEMS microphones measure rain &ndash; a surprising method."),
        ("CloudHarbor", "hello@cloudharbor.example", "What is new at CloudHarbor", "Snapshots are now <b>twice</b> as fast."),
        ("Hamburg Fair", "info@fair-hamburg.example", "Exhibitor news", "Booth plans are online; order power before 1 August."),
        ("Meteo Journal", "toc@meteojournal.example", "Table of contents", "On the bias of ultrasonic anemometers in snow."))
BUILDS = (("main/firmware", "unit tests", "test_rain_gauge: expected 0.2, got 0.0"), ("main/cloud", "deploy", "timeout after 600 s"),
          ("feature/abisko", "integration", "sensor bus: no answer"), ("release/2.4", "package", "signature is missing"))
SPAM = (("Prize Office <win@lucky.example>", "You have WON!!!", "Claim your prize today. Send your account number.\n"),
        ("IT Support <admin@norrsken-login.example>", "Your mailbox is full", "Click here and enter your password to keep your mails.\n"),
        ("Bank <security@bank-check.example>", "Urgent: invoice attached", "Open the invoice at once to avoid a fee.\n"),
        ("Pharma <deals@pills.example>", "Cheap pills", "Everything must go.\n"))
PRIVATE = ("Lunch on Friday?", "Keys to the lab", "Parking space", "Photos of the summer party", "Re: Lunch on Friday?", "Train tickets",
           "Birthday cake for Łukasz", "Old monitor to give away")
