"""What the people around Norrsken Instruments write."""
from __future__ import annotations

TICKETS = (("Station offline", "Hello,\n\nour station {serial} is offline since the storm last night. The green light blinks.\n\n{name}\n"),
           ("Wrong wind speed", "Hi,\n\nstation {serial} shows 90 km/h on a calm day. Is the anemometer broken?\n\n{name}\n"),
           ("Refund request", "Dear support,\n\nwe ordered one station too many ({serial}) and ask for a refund.\n\n{name}\n"),
           ("Question about the API", "Hello,\n\ncan we fetch the data of {serial} every minute? The documentation says ten.\n\n{name}\n"),
           ("Battery does not charge", "Hello,\n\nthe battery of {serial} stays at 11 percent in full sun.\n\n{name}\n"))
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
