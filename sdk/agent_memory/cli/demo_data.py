"""Data that the command `demo` stores: three customers of an internet provider, over two months.

Texts with braces are filled in for each customer. Numbers before a text are days before today.
"""

TEAM = {"lead": "coordinator", "frontline": "agent", "billing": "agent", "auditor": "user"}
TYPES = {"frontline": "support", "billing": "billing"}

CUSTOMERS: dict[str, dict[str, str]] = {
    "ada": {
        "name": "Ada Winter", "plan": "Fibre 500", "old_plan": "Fibre 100", "city": "Linz",
        "old_city": "Graz", "channel": "email", "fee": "49.90 EUR", "refund": "two monthly fees",
        "router": "a Falcon 2 router", "pays": "invoice", "other_pays": "direct debit",
        "language": "German", "work": "a translator", "home": "an old house with thick walls",
        "slot": "Friday morning", "invoice": "INV-1041", "addon": "a static address",
        "hours": "before noon", "since": "2021",
    },
    "ben": {
        "name": "Ben Okafor", "plan": "Fibre 1000", "old_plan": "Cable 250", "city": "Graz",
        "old_city": "Vienna", "channel": "phone", "fee": "69.90 EUR", "refund": "12.50 EUR",
        "router": "a mesh of three Falcon 3", "pays": "credit card", "other_pays": "invoice",
        "language": "English", "work": "a music teacher", "home": "a flat on the fourth floor",
        "slot": "Tuesday after 5 pm", "invoice": "INV-1057", "addon": "a TV package",
        "hours": "after school", "since": "2023",
    },
    "chen": {
        "name": "Chen Liu", "plan": "Business 250", "old_plan": "Fibre 250", "city": "Salzburg",
        "old_city": "Innsbruck", "channel": "chat", "fee": "89.00 EUR",
        "refund": "one day of service",
        "router": "an own firewall behind a Falcon 2", "pays": "direct debit",
        "other_pays": "credit card", "language": "English", "work": "the owner of a tea shop",
        "home": "a shop with an office above", "slot": "Monday before opening",
        "invoice": "INV-1066", "addon": "a second line as backup",
        "hours": "when the shop is closed", "since": "2019",
    },
}  # fmt: skip

TALKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("welcome", (
        "Hello, I am new in {city}. Is {plan} available at my address?",
        "Yes. {plan} is available there for {fee} a month, with a router.",
        "Good. Please answer by {channel}, that suits me best.",
        "Noted: we contact you by {channel}.")),
    ("upgrade", (
        "I still have {old_plan}. Can I change to {plan}?",
        "You can. The price is {fee}, and the change is free of charge.",
        "Then change it on the first of next month, please.",
        "Done: {plan} starts on the first.")),
    ("late-order", (
        "The router has not arrived yet.",
        "I am sorry. The parcel was held at the depot in {old_city}.",
        "When will it be here?",
        "We promise delivery by {slot}.")),
    ("outage", (
        "The line has been down since seven this morning.",
        "There is an outage in {city}. Technicians are working on it.",
        "I need the line for my work as {work}.",
        "We refund {refund} for the outage, and we call you when the line is back.")),
    ("refund", (
        "Which refund did you promise me for the outage?",
        "We promised to refund {refund}. It is on the next bill.",
        "Thank you.")),
    ("slow-line", (
        "The line is slow in the evening.",
        "I see {router} in {home}. Is the device near the line?",
        "No, it is in another room.",
        "Please move it next to the socket and measure again.",
        "It is much better now.")),
    ("invoice", (
        "What is the second position on {invoice}?",
        "It is {addon}, ordered by you last month.",
        "Right, I forgot. Please leave it.")),
    ("payment", (
        "I would like to pay by {pays} from now on.",
        "I changed it from {other_pays} to {pays}. The next bill uses it.")),
    ("technician", (
        "Can a technician look at the socket?",
        "Yes. Which time suits you?",
        "{slot} is best.",
        "The technician comes on {slot}.")),
    ("move", (
        "We move from {old_city} to {city}. Can the contract move with us?",
        "It can. {plan} is available at the new address.",
        "Please move it to the end of the month.",
        "The move is registered. You keep your number.")),
    ("language", (
        "Could I have letters in {language}?",
        "Of course. From now on letters are in {language}.")),
    ("addon", (
        "What does {addon} cost?",
        "The first month is free, then it is 5 EUR a month.",
        "I take it.",
        "It is active. You can cancel it each month.")),
    ("feedback", (
        "The last call was friendly and quick.",
        "Thank you, I pass that on to the team.",
        "Please keep calling {hours} only.")),
    ("cancel-addon", (
        "I do not need {addon} any longer.",
        "I cancelled it. The last fee was charged this month.")),
)  # fmt: skip

BILLING_TOPICS = {"invoice", "payment", "refund"}
LEFT_OUT = {("cancel-addon", "ada"), ("cancel-addon", "ben")}  # leaves 40 conversations

USES: dict[str, tuple[int | str, ...]] = {  # what the last answers about a topic were made from:
    # memories of the customer by their days, policies, lessons, and facts by their predicates
    "late-order": ("delivery",),
    "outage": ("outages", "promises"),
    "refund": (44, "refund", "refunds"),
    "slow-line": (56, 59, "measure", "thick-walls"),
    "invoice": (50, "addon"),
    "payment": ("pays by",),
    "technician": (33, "callback", "technicians"),
    "move": (48, "has contract"),
    "language": (55, "language"),
}

MEMORIES = (
    (60, "{name} is a customer since {since}", "customer"),
    (59, "Lives in {home} in {city}", "address"),
    (58, "Works as {work}", "profile"),
    (57, "Prefers to be contacted by {channel}", "contact"),
    (56, "Has {router}", "device"),
    (55, "Asked for letters in {language}", "contact"),
    (52, "Reachable {hours}", "contact"),
    (50, "Ordered {addon}", "contract"),
    (48, "Changed from {old_plan} to {plan}", "contract"),
    (46, "Pays {fee} a month", "billing"),
    (45, "Was without a line for half a day during the outage in {city}", "outage"),
    (44, "Was promised a refund: {refund}", "promise"),
    (41, "Measured a slow line in the evening, better after moving the router", "line"),
    (38, "Asked about the second position of {invoice}", "billing"),
    (35, "Pays by {pays}", "billing"),
    (33, "Appointments suit best on {slot}", "contact"),
    (30, "A technician replaced the socket", "line"),
    (27, "Kept the phone number when moving from {old_city}", "contract"),
    (24, "Was friendly on the phone, thanked the team twice", "profile"),
    (21, "Received the refund of {refund} with the next bill", "promise"),
    (17, "Asked for fewer advertising letters", "contact"),
    (12, "Compares offers once a year, in spring", "profile"),
    (8, "Answered the survey with 9 of 10", "profile"),
)

OWN_MEMORIES: dict[str, tuple[tuple[int, str, str], ...]] = {
    "ada": (
        (43, "Never phone her: she wants emails in the morning", "contact"),
        (40, "Her neighbour takes parcels, bell 4", "address"),
        (36, "Needs upload speed: she sends large files at night", "line"),
        (29, "Her company needs the bill by the third of the month", "billing"),
        (22, "Asked whether the router can be switched off at night", "device"),
        (19, "The thick walls need a second access point", "device"),
        (15, "Wants to keep the static address after the move", "contract"),
        (11, "Was charged twice in March, corrected the same day", "billing"),
        (9, "Recommended us to two colleagues", "profile"),
        (6, "Reads instructions carefully: send links, not summaries", "contact"),
        (4, "Asked when Fibre 1000 comes to Linz", "contract"),
        (1, "Wants a reminder before her contract ends", "promise"),
    ),
    "ben": (
        (42, "Teaches online on Mondays and Wednesdays: no maintenance then", "line"),
        (39, "Has three access points, one of them in the music room", "device"),
        (37, "Prefers short answers", "contact"),
        (31, "Cancelled the TV package and ordered it again", "contract"),
        (28, "His card expires next summer", "billing"),
        (23, "Lent his router to a neighbour for a week", "device"),
        (18, "Asked for a quieter fan in the router", "device"),
        (14, "Wants a call back at once if the line is down", "promise"),
        (10, "Was promised a new router if the fan is not fixed", "promise"),
        (7, "The lift in his house is broken: technicians need time", "address"),
        (5, "Asked for bills without paper", "billing"),
        (2, "Plays the saxophone: keep the evening free of calls", "profile"),
    ),
    "chen": (
        (47, "The card terminal must stay online during opening hours", "line"),
        (34, "Opens at nine, closed on Sundays", "profile"),
        (32, "Keeps the firewall rules himself: never reset the device", "device"),
        (26, "Needs bills with the tax number of the shop", "billing"),
        (25, "Orders for a second shop are planned in autumn", "contract"),
        (20, "Has a contract for two years, with a discount", "contract"),
        (16, "Asked for the service level in writing", "contract"),
        (13, "His nephew answers the phone on Saturdays", "contact"),
        (9, "The backup line was tested, it takes over in 20 seconds", "line"),
        (6, "Sends photos of the rack when something is wrong", "device"),
        (3, "Was promised a price for the second shop by Monday", "promise"),
        (1, "Offers tea to technicians", "profile"),
    ),
}

LESSONS: dict[str, tuple[tuple[str, str], ...]] = {
    "frontline": (
        ("greet", "Greet by name, and repeat the request in one sentence"),
        ("outage-first", "Look at the outage map before asking for a restart"),
        ("restart", "A restart of the router solves one in three slow lines"),
        ("measure", "Ask for a measurement by cable before sending a technician"),
        ("depot", "Parcels to Graz are often held at the depot"),
        ("promise", "Write a promise down as soon as it is made"),
        ("thick-walls", "Old houses with thick walls need a second access point"),
        ("evening", "Slow lines in the evening are often the wireless channel"),
        ("photo", "A photo of the device saves five questions"),
        ("language", "Answer in the language of the last message"),
        ("callback", "Agree on a time before calling back"),
        ("teachers", "Customers who teach online need a fixed maintenance window"),
        ("firewall", "Never reset a device that the customer manages"),
        ("two-tickets", "Two tickets from one house are usually one outage"),
        ("closing", "End with what happens next, and when"),
        ("quiet", "Do not call customers who asked for written answers"),
        ("backup", "A backup line needs its own test after each outage"),
        ("survey", "Send the survey a day later, not at once"),
    ),
    "billing": (
        ("rounding", "Totals differ by a cent after a discount"),
        ("march", "The run of March charged some customers twice"),
        ("addon", "Explain an add-on by the date of its order"),
        ("tax", "Business bills need the tax number on the first page"),
        ("card", "Ask for a new card a month before the old one expires"),
        ("refund", "Name the promise when booking a refund"),
        ("proof", "Attach the outage report to each refund above 20 EUR"),
        ("paper", "Paper bills cost 2 EUR, customers forget it"),
        ("discount", "A discount ends on the last day of its month"),
        ("duplicate", "Two payments on one day: refund the second, then ask"),
        ("reminder", "A reminder before the third costs no fee"),
        ("vat", "Check the tax rate when a customer moves abroad"),
        ("first-bill", "The first bill covers a part of a month: explain it"),
        ("credit", "Credits are used before the card is charged"),
    ),
}
BILLING_CAPACITY = 12  # fewer than its lessons, so the oldest of them are evicted

POLICIES = (
    ("refunds", "Refunds above 50 EUR need the approval of billing"),
    ("outages", "After four hours without a line we refund one day"),
    ("promises", "A promise to a customer is stored as a memory with the tag promise"),
    ("tone", "Write short sentences and no abbreviations"),
    ("contact", "Respect the channel that a customer prefers"),
    ("delivery", "Parcels arrive within three working days"),
    ("technicians", "Technicians come on weekdays from 8 am to 6 pm"),
    ("contracts", "Contracts can be cancelled with one month's notice"),
    ("privacy", "Never read out a full card number"),
    ("escalation", "Hand over to billing if money was charged twice"),
)

FACTS = (
    (60, "has contract", "{old_plan}"),
    (48, "has contract", "{plan}"),
    (60, "lives in", "{old_city}"),
    (27, "lives in", "{city}"),
    (59, "pays by", "{other_pays}"),
    (35, "pays by", "{pays}"),
    (58, "prefers contact by", "{channel}"),
    (57, "works as", "{work}"),
    (56, "uses device", "{router}"),
    (55, "reads letters in", "{language}"),
    (50, "ordered", "{addon}"),
    (46, "pays a month", "{fee}"),
    (44, "was promised", "{refund}"),
    (33, "suits appointments on", "{slot}"),
    (30, "is reachable", "{hours}"),
    (24, "is customer since", "{since}"),
    (20, "has open invoice", "{invoice}"),
    (9, "lives in house type", "{home}"),
)
LATER = {("has contract", 48), ("lives in", 27), ("pays by", 35)}  # what replaced a fact
SHARED_FACTS = (
    (55, "Graz depot", "delays parcels by", "two days"),
    (50, "Falcon 2 router", "is fixed by", "firmware 4.1"),
    (42, "Outage of Linz", "lasted", "five hours"),
    (38, "Falcon 3 router", "has issue", "a loud fan"),
    (31, "Billing run of March", "charged twice", "14 customers"),
    (12, "Fibre 1000", "comes to Linz in", "autumn"),
)
SINGLE_VALUED = ("has contract", "lives in", "pays by", "has service level")
CONFLICT = ("Chen Liu", "has service level", ("four hours", "next working day"))

CHANGES = (  # shared texts that were corrected
    ("tone", "Write short sentences, and use the customer's name"),
    ("refunds", "Refunds above 80 EUR need the approval of billing"),
    ("refunds", "Refunds above 80 EUR need the approval of billing, with the outage report"),
)

TASKS: tuple[tuple[str, str, str, str], ...] = (  # intent, name, assignee, status at the end
    ("march-outage", "Collect outage reports", "frontline", "completed"),
    ("march-outage", "Refund affected customers", "frontline", "running"),
    ("march-outage", "Write to customers", "frontline", "running"),
    ("march-outage", "Publish the report", "lead", "pending"),
    ("double-charge", "Find double charges", "billing", "completed"),
    ("double-charge", "Explain charges to Ada", "billing", "running"),
    ("double-charge", "Correct the billing run", "billing", "failed"),
    ("double-charge", "Inform the auditor", "billing", "blocked"),
)
PROGRESS = {"completed": 1, "running": 0.5, "blocked": 0.75, "failed": 0.4}
INSTRUCTIONS = "Learn how each customer wants to be contacted, and what they dislike."
HAND_OVERS = {
    "Refund affected customers": (
        "frontline", "billing", "Reports of 14 customers are in memory: refund one day each."),
    "Explain charges to Ada": (
        "billing", "frontline", "She prefers emails. The second charge was returned."),
}  # fmt: skip

EPISODES = (
    ("observation", "Customer reports a slow line in the evening"),
    ("tool_call", "Measured the line: 480 Mbit/s by cable, 40 Mbit/s by wireless"),
    ("decision", "The wireless channel is crowded: change it instead of sending a technician"),
    ("tool_call", "Changed the wireless channel to 44"),
    ("observation", "Customer measures 310 Mbit/s"),
)
OUTCOMES = {
    "measure-first": (0.9, 1.0, 0.8, 0.9, 1.0, 0.7),
    "restart-first": (0.4, 0.6, 0.5, 0.3),
    "send-technician": (0.6, 0.5),
}
