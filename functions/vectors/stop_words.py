"""Words of four languages that say nothing of what is searched for."""

_ENGLISH = """
a about above after again all also am an and any anything are as at be because been before being
below between both but by can could did do does doing done down during each else ever everything
few for from further give had has have having he her here hers him his how i if in into is it its
just know known let like list me more most much my no nor not now of off on once one only or other
our ours out over own please same say see she should show so some something such tell than that
the their theirs them then there these they thing things this those through to too under until up
us very was we were what when where which while who whom whose why will with would you your yours
"""
_GERMAN = """
aber alle alles als am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der
des dessen die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es
etwas euch fuer für gibt hat hatte hatten hier ich ihm ihn ihr ihre im in ist ja kann kein keine
man mein mich mir mit nach nicht nichts noch nun nur ob oder ohne sehr sein seine sich sie sind so
soll über um und uns unser unter vom von vor war waren warum was weil welche welcher welches wenn
wer werden wie wieder wir wird wissen wo wohin wurde wurden zu zum zur
"""
_FRENCH = """
au aux avec ce ces cet cette comme comment dans de des dont du elle elles en est et eu été il ils
je la le les leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou où par pas plus
pour pourquoi quand que quel quelle quelles quels qui quoi sa sans se ses sont son sur ta te tes
toi ton tu un une vos votre vous y était
"""
_SPANISH = """
al algo como con cual cuales cuando cuál del desde donde dónde el ella ellas ellos era eran es esa
ese eso esta este esto está fue ha han hay la las lo los más mi mis muy nada no nos nosotros o
para pero por porque qué que quien quién se sea ser si sin sobre son su sus también te tiene
tienen todo todos tu un una uno unos y ya yo
"""
STOP_WORDS = frozenset("".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH)).split())
