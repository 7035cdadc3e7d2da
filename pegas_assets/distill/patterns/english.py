"""English words that tell a statement from a hedge, an opinion, an instruction or a fragment."""

from pegas_assets.distill.patterns import phrases, words

PRONOUNS = words(
    """it its they them their theirs he him his she her hers this that these those such there here one another both
    neither either each-other itself themselves himself herself some others everyone everybody everything nobody
    somebody someone something nothing anything none latter former which who what whoever whatever"""
)
"""A sentence that opens with one cannot be understood alone."""

DEMONSTRATIVES = words("this that these those such")
"""What the second or third word of a sentence points back with: "in this case"."""

PERSONAL = words(
    "i me my mine we us our ours you your yours myself ourselves yourself yourselves let's i'm i've we're "
    "we've we'll you're you've you'll i'd i'll you'd we'd"
)

CONNECTIVES = phrases(
    """however,
    moreover,
    furthermore,
    in addition,
    also,
    besides,
    for example,
    for instance,
    in fact,
    as a result,
    therefore,
    thus,
    consequently,
    nevertheless,
    in contrast,
    by contrast,
    on the other hand,
    at the same time,
    meanwhile,
    finally,
    overall,
    in general,
    in short,
    first,
    second,
    third,
    note that
    and
    but
    yet"""
)
"""What a claim leaves out from its beginning."""

DANGLING = words(
    "so then because although though instead otherwise nor or not afterwards thereafter thereby hence only even "
    "now today tomorrow yesterday yes no ok okay well why how when where whether"
)
"""A sentence that opens with one leans on what came before, unless a comma clause resolves it."""

IMPERATIVES = words(
    """add adjust allow apply ask attach avoid bake beat begin boil book bring browse build buy call change check choose
    clean clear click close combine compare configure connect consider contact continue cook cool copy cover create cut
    delete disconnect divide do don't download drag drain drink drop edit email enable enjoy ensure enter explore feel
    fill find finish fix fold follow forget get give go grab have heat hold imagine import insert inspect install join
    keep knead learn leave let light listen look lower make measure melt mix move navigate never note notice observe open
    order pay pick place please pour preheat prepare press print pull push put raise read recall register remember
    remove repeat replace report rest restart rinse roll rub run save scroll season see select send serve set shake
    share sign simmer skip slice sprinkle start stay stir stop store strain subscribe swallow switch take taste tell
    think transfer try turn type unplug unscrew update upgrade upload use verify visit wait warm wash watch weigh
    whisk wipe write submit fork glue meet paint nail drill sand screw tighten loosen plug press peel chop grate roast fry sow plant water prune dig clone pass provide specify set define bear beware always just simply"""
)
"""Bare verbs that open an instruction to the reader."""

OPINION = words(
    """amazing amazingly awesome awful awesomely beautiful beautifully best-loved breathtaking brilliant charming cosy
    cozy delicious delightful dreadful enjoyable excellent exciting exquisite fabulous fantastic fascinating favorite
    favourite fun gorgeous great greatest handsome hopefully horrible incredible incredibly interesting interestingly
    lovely luckily fortunately magical magnificent marvellous marvelous nice nicest perfect picturesque pity pleasant
    pretty quaint remarkable remarkably sad sadly scenic shame splendid stunning superb terrible tasty truly ugly
    unbelievable unforgettable unfortunately wonderful wonderfully worst wow yummy must-see easy easily-done
    surprisingly admittedly frankly honestly personally thankfully regrettably boring annoying"""
)

HEDGES = words(
    """arguably apparently conceivably maybe might perhaps possibly presumably probably seemingly seem seems seemed
    supposedly guess suppose suspect wonder wondered hope hopes hoping imho imo"""
)

HEDGING_PHRASES = phrases(
    """i think
    we think
    we believe
    i believe
    people think
    think that
    believe that
    must have been
    could have been
    would have been
    may have been
    as everyone knows
    of course
    as we all know
    who knows
    hard to imagine
    hard to say
    no doubt
    needless to say
    it is said
    in my opinion
    in our opinion
    in our view
    feels like
    looks like
    the best
    the worst
    the nicest
    should be fun
    could be
    worth a visit
    worth visiting
    worth seeing
    worth trying
    would be nice
    will love
    is easy
    are easy
    was easy
    one day"""
)

BOILERPLATE = phrases(
    """all rights reserved
    further work is
    further research is
    more research is
    competing interests
    conflict of interest
    the authors thank
    reserve the right
    reserves the right
    were discussed
    was discussed
    check out
    prices include
    terms of use
    terms of service
    terms and conditions
    privacy policy
    cookies
    cookie policy
    read more
    read also
    see also
    see below
    see above
    see figure
    see section
    see table
    see the next
    is below
    are below
    is shown below
    are shown below
    listed below
    described below
    described above
    shown above
    the following
    as follows
    the next page
    the next section
    the previous section
    this section
    this chapter
    this article
    this tutorial
    this guide
    this page
    this post
    this document
    this readme
    subscribe
    newsletter
    sign up
    log in
    click here
    add to cart
    free delivery
    share this
    follow us
    contact us
    for comment
    for more information
    for further information
    for details
    for examples
    subject to change
    thank you
    thanks to
    many thanks
    copyright
    powered by
    table of contents
    work in progress
    to be continued
    to be done
    todo
    happy reading
    happy coding
    last updated
    photo by
    advertisement
    sponsored
    errors and omissions"""
)

VERBS = words(
    """is are was were am be been being has have had having does do did can could may must shall will would should cannot
    can't won't doesn't don't didn't isn't aren't wasn't weren't hasn't haven't hadn't
    became began bent blew bore bought bound broke brought built burnt burst came cast caught chose clung cost crept cut
    dealt drank drew drove dug ate fed fell felt fled flew forbade forgot fought found froze gave got grew ground heard
    held hid hit hung hurt kept knew laid lay lead leads led left lent let lit lost made meant met paid put ran rang
    read rode rose said sang sank sat saw sent set shone shook shot showed shrank shut slept slid sold sought spent spoke
    sprang spread stole stood struck stuck swam swept swore taught thought threw told took tore understood went withdrew
    woke won wore wove wound wrote
    act add allow see hear feel know find hunt graze breed hatch lay grind pump bloom ripen rust melt sink appear apply arise attack attract become begin belong block boil break bring burn carry cause change
    charge collect come combine connect consist consume contain cost cover create decrease define depend describe
    destroy develop die differ dissolve drink drive drop eat emit enter equal exceed exist expand explain express
    extend fall feed fill flow fly follow form freeze generate get give go grow happen have help hold improve include
    increase inhibit involve keep kill know lack last lead leave lie live look lose lower make mark mean measure melt
    mix move need nest obey occur offer operate pass perform prefer prevent produce protect provide pull push raise
    range react reach receive record reduce reflect refuse release remain remove replace require result return rise
    rotate run scatter sell send separate serve set show shrink sink sleep slow spend spin spread stand start stay stop
    store support surround survive swim take tend travel turn use vary wear weigh work write yield"""
)
"""Finite forms that no ending gives away, and bare verbs that follow a plural subject."""

NOT_VERBS_IN_S = words(
    """always sometimes besides perhaps towards afterwards upwards downwards across plus thus its his hers ours theirs
    yours this us as is was has does various previous famous serious dangerous less unless access process business
    glass mass class loss cross press gas bus virus status basis analysis axis crisis news physics mathematics
    electronics economics politics series species means lens chess bias atlas christmas"""
)

NOT_IMPERATIVE_BEFORE_ARTICLE = words(
    """in on at by for from with without within to into onto of off over under above below behind beside besides beyond
    near inside outside among amongst amid between across along around round about against before after during since
    until till while when whenever where wherever if unless because although though as than like unlike despite per via
    through throughout towards toward upon up down out all both half not only even and or but nor so yet once whether
    that what which who whose is are was were has have had does did do there here then thus hence such many quite rather
    except given considering regarding concerning following depending including being according next opposite every each
    perhaps maybe almost nearly roughly approximately exactly just still also again later soon today inside instead
    often sometimes usually always never ever twice thrice double"""
)
"""Any other bare word before an article opens an instruction: "Glue the corners"."""

NUMBERED = words(
    """number no nr version release model type class phase stage step chapter section article part unit room hall block
    building gate lock line route track platform engine pump reactor furnace tank well sample group figure table
    experiment team"""
)
"""What a number names rather than counts: after "pump 5" a word in -s is a verb, after "the 5" a plural."""
BEFORE_NOUNS = words(
    """the a an of in on for with by and or to from at two three four five six seven eight nine ten twelve twenty hundred
    thousand many several few some these those all most other both various different no own same such new old more less
    fewer further additional its their his her our your my every each per as than between among about over under"""
)
"""After these a word in -s is a plural."""

LABELS = words(
    """note notes warning caution important tip hint example examples e.g see attention remark summary update edit
    question answer q a source sources author authors date editor photo image figure table time place present absent
    attendees location address phone email tel url website subject from to cc re todo fixme step result results input
    output usage default returns raises parameters args yield status version license licence price tags categories
    keywords published updated"""
)
"""Words before a colon that name no term."""
