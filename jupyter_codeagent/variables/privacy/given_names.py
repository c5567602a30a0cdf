"""Common given names of several languages, without those that are as often months, places or things."""

from __future__ import annotations

_NAMES = """
aaron abdul abdullah adam adrian agnes agnieszka ahmed aisha alan albert alejandra alejandro alessandro alessia
alex alexander alexandra alexandre alexey ali alice alicia alison allison amanda amber amelia amina amir amit amy
ana anastasia anders andrea andreas andrei andrew andrey angela anil anita anja ann anna anne annette annie
antoine anton antonio arjun arthur ashley astrid barbara beatrice ben benjamin bernard bernd beth betty bianca
birgit bob bogdan boris brandon brenda brian bruce bruno camille carl carla carlos carmen carol caroline catherine
cathy cecilia charles charlie chen chiara chloe chris christian christina christine christoph christopher claire
clara claude claudia clement colin connor craig cristina cynthia daniel daniela danielle david debbie deborah
deepak denise dennis derek diana diane diego dieter dimitri dmitri dmitry dominik donald donna dorothy doug
douglas dylan eduardo edward elaine eleanor elena eli elias elisabeth elizabeth ella ellen emily emma emmanuel
enrique eric erica erik erika erin ethan eugene eva evan evelyn fabian fatima federico felix fernanda fernando
fiona florian frances francesca francesco francisco francois frank franz fred frederic frederik gabriel gabriela
gareth gary gavin george georgia gerald gerhard gertrude gianluca giovanni giulia giuseppe gloria gordon grace
graham greg gregory guido guillaume gunther gustavo hannah hans harold harry hassan heather heidi heike helen
helena helga helmut henrik henry herbert hiroshi howard hugo ian ibrahim ingrid irene irina isaac isabel isabella
ivan jack jacob jacqueline jacques jakob jakub james jamie jan jane janet janice jason javier jay jean jeff
jeffrey jennifer jenny jens jeremy jerry jessica jesus jill jim jimmy joan joanna joe joel johan johann johanna
johannes john johnny jon jonas jonathan jorge jose josef joseph joshua juan judith judy juha julia julian julie
jurgen justin kaori karen karin karl karolina katarina kate katherine kathleen kathryn katie katrin kayla keith
kelly ken kenji kenneth kevin khalid kim kimberly klaus kristen kristina krzysztof kumar kurt kyle larry lars
laura lauren laurent leah lee lena leo leon leonardo liam linda lisa logan lorenzo lori louis louise luca lucas
lucia lucy luigi luis lukas luke maciej magdalena mahmoud malgorzata manfred manuel marc marcel marcin marco
marcos marcus margaret maria marie marina mario marion mark markus marta martha martin martina mary masako mateusz
matteo matthew matthias maurice max maximilian megan mehmet mei melanie melissa michael michal michel michele
michelle miguel mikael mike mikhail milan mohamed mohammad mohammed monica monika monique muhammad mustafa nadia
nancy naomi natalia natalie nathan neha neil nicholas nick nicolas nicole nikhil nikolai nina noah nora norbert
norman oleg olga oliver olivia olivier omar oscar owen pablo pamela paola paolo patricia patrick paul paula pavel
pedro peggy peter petra philip philipp philippe phillip pierre piotr pooja priya rachel rafael rahul raj rajesh
ralf ralph ramesh ravi ray raymond rebecca regina renate ricardo riccardo richard rick rita rob robert roberta
roberto robin rodrigo roger roland ronald rosa rosemary roy russell ruth ryan sabine sabrina sally sam samantha
samuel sandeep sandra sandro sanjay sara sarah satoshi scott sean sebastian sergei sergey sergio shannon sharon
sheila shirley silvia simon simone sofia sofie sonia sophia sophie stefan stefania stefano stephanie stephen steve
steven stuart sunil susan susanne suzanne sven svetlana sylvia takashi tamara tanya tatiana ted teresa terry
theodore theresa thomas tiffany tim timothy tina tobias todd tom tomas tomasz tony tracy ulrich ulrike ursula uwe
vanessa vera veronica veronika vicki vijay vikram viktor viktoria vincent vincenzo vladimir walter wanda wei wendy
werner wilhelm william wolfgang xavier yan yang yasmin yolanda yuki yusuf yves yvonne zachary zoe
"""
GIVEN_NAMES = frozenset(_NAMES.split())
"""In lower case."""
