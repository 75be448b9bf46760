"""Words that carry a statement, in many languages: plain tables, to be read and extended.

A table maps a word, in lower case, to its mark. Words with the same mark say the same, so that one may
stand for the other. Marks ``pair=side`` belong to a pair of opposites; ``turn+on`` are two words, and
``aktivier*`` all that begin so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = [
    "BESIDE_DIGITS",
    "CASED_UNITS",
    "DATES",
    "DENYING",
    "MODALS",
    "NEGATIONS",
    "NEGATIVE_UN",
    "NUMERALS",
    "OPPOSITES",
    "UNITS",
    "UNIT_WORDS",
]


def _read_pairs(lines: str) -> dict[str, tuple[str, ...]]:
    """Read a table of opposites: a word can have several."""
    table: dict[str, tuple[str, ...]] = {}
    for line in lines.strip().splitlines():
        mark, _, words = line.strip().partition(": ")
        for word in words.split():
            table[word] = (*table.get(word, ()), mark)
    return table


def _read(lines: str) -> dict[str, str]:
    """Read a table: each line is a mark and its words, or words alone, which are their own marks."""
    table: dict[str, str] = {}
    for line in lines.strip().splitlines():
        mark, colon, words = line.strip().partition(": ")
        for word in (words if colon else mark).split():
            table[word] = mark if colon else word
    return table


NEGATIONS: Mapping[str, str] = _read(
    """
    no not none never nor neither without except unless nothing nobody nowhere hardly barely
    excluding lacks lack lacking
    not: ain aint dont doesnt didnt isnt arent wasnt werent wont cant couldnt wouldnt shouldnt mustnt hasnt havent
    jamás nimmer nirgendwo mitnichten keinesfalls keineswegs 除
    nicht kein keine keinen keinem keiner keines nie niemals nirgends nichts ohne außer weder kaum
    ne pas jamais aucun aucune sans sauf rien ni nul nulle hormis
    nunca ningún ninguna ninguno sin salvo excepto tampoco nada
    non mai nessun nessuna nessuno senza tranne niente nulla
    não nem nenhum nenhuma sem exceto jamais
    не нет без никогда ни кроме нельзя ничего никто немає ніколи крім
    niet geen nooit zonder behalve niets
    inte ej aldrig utan ingen inget inga ikke aldri aldrig uden uten ingenting
    nie bez nigdy oprócz żaden żadna żadne nic nikt
    není nejsou nikdy žádný žádná
    değil yok asla hiç hariç değildir
    ei eivät älä ilman ellei koskaan
    nem ne nincs soha nélkül kivéve sohasem
    nu fără niciodată niciun nicio
    δεν μην όχι χωρίς ποτέ εκτός
    לא אין בלי ללא אל אסור
    لا لم لن ليس ليست غير بدون دون إلا ممنوع
    نیست نه بدون هرگز ندارد نمی نباید
    नहीं मत बिना न ना कभी
    না নেই নয়
    இல்லை அல்ல
    không chưa chẳng đừng
    tidak bukan jangan tanpa belum kecuali
    ไม่ ห้าม ยกเว้น อย่า
    不 没 沒 无 無 未 非 别 勿 莫 否 禁 ない なく なかっ なけれ ません ぬ ずに 않 없 못 아니 안 마십 마세 말아 말고
    invalid incorrect inactive insecure incompatible incomplete inconsistent insufficient inaccurate
    ineligible inaccessible inappropriate ineffective inefficient infinite invisible invalidate
    indirect indirectly informal independent inadvisable
    impossible immutable improper imperfect impractical irregular irreversible irrelevant irresponsible
    illegal illegible illogical
    disconnect disconnected disconnects disabled disallow disallowed disallows disagree disapprove
    discontinued dissatisfied dishonest disadvantage disregard
    nonexistent nonzero nonempty noncompliant
    """
)

NEGATIVE_UN = re.compile(
    r"un(?!der|ter(?!min)|i(?!n|m|d[eo])|anim|ary\b|cle\b|gef|ser|ten\b|til\b|to\b)[^\W\d_]{3,}"
)
"""Words that begin with un- and are negations; ``under``, ``unit``, ``until`` and German ``unser`` are not."""

DENYING = frozenset("un in im il ir dis non anti mis a de des dé dés ent in- non- не без бес nie nej".split())
"""Syllables that deny the word behind them, if that is a word of the other text."""

MODALS: Mapping[str, str] = _read(
    """
    must: have+to has+to need+to needs+to
    must: must shall required requires require mandatory obligatory compulsory muss müssen musst mußte müsst
    must: doit doivent doivent obligatoire devoir debe deben deberá obligatorio obligatoria tiene devi deve
    must: devono
    must: obrigatório devem moet moeten verplicht måste skal må musi muszą musí trzeba должен должна должны
    must: необходимо обязательно повинен повинні müssen zorunlu zorunda phải harus wajib 必须 必須 必要 須 须
    must: なければなりません なければならない 해야 필수 必ず ต้อง πρέπει חייב يجب باید चाहिए
    must: 반드시 müss* muß* dois devons devez devront devra faut debes debemos deberás deberán deve devem devemos
    must: devo dobbiamo bisogna occorre precisa precisam должн* нужно надо потрібно треба należy trzeba
    must: muessen mora moraju trebuie kell täytyy pitää musí musíte musíme musisz musimy povinn* måste skall επιβάλλεται wajib harus
    should: should ought recommended recommend advised sollte sollten soll sollen devrait devraient recommandé
    should: debería deberían recomendado dovrebbe dovrebbero consigliato deveria deveriam recomendado zou
    should: moeten bör bør powinien powinna powinny měl следует рекомендуется nên sebaiknya 应该 应 應 應該 建议 推荐
    should: べき 推奨 권장 ควร
    may: könn* koenn* dürf* duerf* kannst darfst peux pouvez pouvons pourra pourrez pourront puedes podemos
    may: podrá podrán puoi possiamo potrà potranno podem poderá mogą można moż* мож* мог* може* лучше
    may: získ* lze πορεί voi voivat lehet poate pot
    may: may can might could optional optionally permitted darf dürfen kann können könnte optional
    may: peut peuvent pourrait facultatif puede pueden podría opcional può possono potrebbe facoltativo
    may: pode podem poderia kan kunnen mag mogen kan får może mogą můžete může может могут можно можна
    may: edilebilir dapat boleh 可以 可 能 可能 でき てもよい สามารถ μπορεί יכול يمكن सकता सकते
    only: seul seuls seule seules unicamente únicamente somente exclusivement exclusivamente esclusivamente
    only: only solely exclusively nur ausschließlich seulement uniquement solo sólo solamente soltanto
    only: somente apenas só alleen slechts bara endast kun tylko jen pouze только лише yalnızca sadece chỉ
    only: hanya
    only: 只 仅 僅 のみ だけ 만 เท่านั้น μόνο רק فقط केवल
    """
)

DATES: Mapping[str, str] = _read(
    """
    month 1: january januar janvier enero gennaio janeiro januari января январь січня stycznia ledna يناير
    month 1: ocak
    month 2: february februar février febrero febbraio fevereiro februari февраля февраль lutego února فبراير
    month 2: şubat
    month 3: march märz mars marzo março maart марта март березня marca března مارس mart
    month 4: april avril abril aprile апреля апрель квітня kwietnia dubna أبريل nisan
    month 5: may mai mayo maggio maio mei maj мая май травня maja května مايو mayıs
    month 6: june juni juin junio giugno junho июня июнь червня czerwca června يونيو haziran
    month 7: july juli juillet julio luglio julho июля июль липня lipca července يوليو temmuz
    month 8: august août agosto augustus augusti августа август серпня sierpnia srpna أغسطس ağustos
    month 9: september septembre septiembre settembre setembro сентября сентябрь вересня września září سبتمبر
    month 9: eylül
    month 10: october oktober octobre octubre ottobre outubro октября октябрь жовтня października října أكتوبر
    month 10: ekim
    month 11: november novembre noviembre novembro ноября ноябрь листопада listopada listopadu نوفمبر kasım
    month 12: december dezember décembre diciembre dicembre dezembro декабря декабрь грудня grudnia prosince
    month 12: ديسمبر aralık
    month 1: jan
    month 2: feb
    month 3: mar
    month 4: apr
    month 6: jun
    month 7: jul
    month 8: aug
    month 9: sep sept
    month 10: oct okt
    month 11: nov
    month 12: dec dez
    day 1: monday mondays montag montags lundi lunes lunedì segunda maandag måndag mandag poniedziałek
    day 1: понедельник
    day 1: 月曜日 月曜 星期一 周一 월요일 mon
    day 2: tuesday tuesdays dienstag dienstags mardi martes martedì terça dinsdag tisdag tirsdag wtorek
    day 2: вторник
    day 2: 火曜日 火曜 星期二 周二 화요일 tue
    day 3: wednesday wednesdays mittwoch mittwochs mercredi miércoles mercoledì quarta woensdag onsdag środa
    day 3: среда
    day 3: 水曜日 水曜 星期三 周三 수요일 wed
    day 4: thursday thursdays donnerstag donnerstags jeudi jueves giovedì quinta donderdag torsdag czwartek
    day 4: четверг
    day 4: 木曜日 木曜 星期四 周四 목요일 thu
    day 5: friday fridays freitag freitags vendredi viernes venerdì sexta vrijdag fredag piątek пятница
    day 5: 金曜日 金曜 星期五 周五 금요일 fri
    day 6: saturday saturdays samstag samstags samedi sábado sabato zaterdag lördag lørdag sobota суббота
    day 6: 土曜日 土曜 星期六 周六 토요일 sat
    day 7: sunday sundays sonntag sonntags dimanche domingo domenica zondag söndag søndag niedziela
    day 7: воскресенье
    day 7: 日曜日 日曜 星期日 周日 星期天 일요일 sun
    today: today heute hoy oggi hoje vandaag сегодня 今天 今日 오늘
    tomorrow: tomorrow mañana domani amanhã demain завтра 明天 明日 내일
    yesterday: yesterday gestern hier ayer ieri ontem gisteren вчера 昨天 昨日 어제
    hourly: hourly stündlich
    daily: daily täglich quotidien diario diariamente giornaliero diário dagelijks ежедневно 每天 毎日 매일
    weekly: weekly wöchentlich hebdomadaire semanal settimanale wekelijks еженедельно 每周 毎週 매주
    monthly: ежемесячн* mensual* mensuel* mensil* mensai* monatlich* miesięczn* měsíčn* aylık
    yearly: ежегодн* anual* annuel* annual* anuai* jährlich* roczn* ročn* yıllık
    weekly: еженедельн* semanal* semanai* settimanal* hebdomadaire* wöchentlich* tygodniow* týdenn* haftalık
    daily: ежедневн* diari* quotidien* giornalier* täglich* dzienn* denn* günlük
    monthly: monthly monatlich mensuel mensual mensile mensal maandelijks ежемесячно 每月 毎月 매월
    quarterly: quarterly vierteljährlich trimestriel trimestral
    yearly: yearly annual annually jährlich annuel anual annuale jaarlijks ежегодно 每年 毎年 매년
    morning: morning mornings vormittags 上午 午前 오전
    afternoon: afternoon afternoons nachmittags 下午 午後 오후
    evening: evening evenings abends
    noon: noon midday
    midnight: midnight mitternacht
    """
)

BESIDE_DIGITS = frozenset(
    "may mar mart march sun sat mon wed dec nov sep sept jan jun mars marca hier maj mei mai".split()
)
"""What is a date only beside digits, since it is a word as well."""

NUMERALS: Mapping[str, str] = _read(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand
    thousands million millions billion billions trillion zero dozen half twice thrice double triple
    second third fourth fifth sixth seventh eighth ninth tenth quarter
    zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig hundert tausend
    दो तीन चार पांच पाँच छह सात आठ नौ दस اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة
    iki üç dört beş altı yedi sekiz dokuz två sju åtta nio tio dwa trzy cztery pięć sześć dziesięć
    dva tři čtyři pět šest deset bốn năm sáu bảy tám chín mười dua tiga empat enam
    deux trois quatre cinq sept huit neuf dix vingt cent mille
    dos tres cuatro cinco ocho nueve diez veinte
     tre quattro cinque sei otto nove dieci
    dois três quatro oito dez
    twee vijf zes acht negen tien
    два две три четыре пять шесть восемь девять десять двадцать сто
    二 三 四 五 六 七 八 九 十 百 千 万 亿 两 兩
    """
)

CASED_UNITS = frozenset(
    f"{prefix}{base}"
    for prefix in ("K", "k", "M", "G", "T", "Ki", "Mi", "Gi")
    for base in ("B", "b", "bps", "Bps")
) | {"mW", "MW", "mV", "MV", "mm", "Mm", "mHz", "MHz"}
"""What upper and lower case tell apart."""

UNITS: Mapping[str, str] = {
    **_read(
        """
        %: % ％ percent pct prozent процент процентов процента
        ‰: ‰
        °: ° deg
        °c: °c ℃
        °f: °f ℉
        ns: ns
        µs: µs us μs
        ms: ms msec
        s: s sec secs с сек 秒 초
        min: min mins мин 分 分钟 分鐘 분
        h: h hr hrs std ora ч 小时 小時 時間 시간
        d: d tag 天 日 日間 일
        week: wk 周 週 週間 주
        month: mo ay 个月 ヶ月 か月 個月 개월
        year: yr yrs 年 년
        bit: bit
        nm: nm
        µm: µm μm
        mm: mm
        cm: cm
        m: m м 米
        km: km км 公里
        ft: ft
        mi: mi
        mg: mg
        g: g г
        kg: kg кг 公斤
        t: t
        lb: lb lbs
        oz: oz
        ml: ml
        l: l
        km/h: km/h kph kmh
        mph: mph
        m/s: m/s
        v: v
        mv: mv
        kv: kv
        ma: ma
        a: a amp amps
        w: w
        kw: kw
        kwh: kwh
        hz: hz
        khz: khz
        mhz: mhz
        ghz: ghz
        px: px
        em: em
        rem: rem
        pt: pt
        dpi: dpi
        rpm: rpm
        dollar: usd $
        euro: eur €
        pound_sterling: gbp £
        yen: jpy ¥ 円
        yuan: cny rmb 元
        franc: chf
        rupee: inr ₹
        won: krw 원
        rouble: rub руб ₽
        thousand: k
        million: mn mio
        billion: bn
        """
    ),
    **{unit: unit for unit in CASED_UNITS},
}
"""What is a unit behind a number."""

UNIT_WORDS: Mapping[str, str] = _read(
    """
    ns: nanosecond nanoseconds nanosekunden
    µs: microsecond microseconds mikrosekunden
    ms: millisecond milliseconds millisekunde millisekunden millisecondes milisegundos millisecondi
    ms: миллисекунд
    s: seconds sekunde sekunden seconde secondes segundo segundos secondo secondi секунд секунды секунда
    s: sekund sekundy seconden sekunder saniye วินาที giây detik ثانية ثوان सेकंड
    min: minute minutes minuten minuto minutos minuto minuti минут минуты минута minut minuty minuuttia dakika
    min: นาที phút menit دقيقة دقائق मिनट
    h: hour hours stunde stunden heure heures hora horas час часа часов godzin godziny uren saat timmar
    h: ชั่วโมง giờ ساعة ساعات घंटे
    d: day days tage tagen jour jours día días giorno giorni dia dias день дня дней dni dzień dagen dagar
    d: gün
    d: วัน ngày hari يوم أيام दिन
    week: week weeks woche wochen semaine semaines semana semanas settimana settimane неделя недели недель
    week: weken
    week: tygodni tydzień hafta tuần minggu أسبوع أسابيع
    month: month months monat monate monaten mois mes meses mese mesi mês месяц месяца месяцев maanden
    month: miesięcy
    month: tháng bulan شهر أشهر
    year: year years jahr jahre jahren ans année années año años anno anni ano anos год года лет jaar lat yıl
    year: năm tahun سنة سنوات
    byte: byte bytes octet octets
    bit: bits
    kB: kilobyte kilobytes
    MB: megabyte megabytes
    GB: gigabyte gigabytes
    TB: terabyte terabytes
    Mbps: megabit megabits
    mm: millimeter millimeters millimetre millimetres
    cm: centimeter centimeters centimetre centimetres zentimeter
    m: meter meters metre metres mètres metros metri метров
    km: kilometer kilometers kilometre kilometres kilomètres kilómetros километров
    mi: mile miles meilen
    ft: feet foot
    inch: inch inches zoll
    mg: milligram milligrams milligramm
    g: gram grams gramm
    kg: kilogram kilograms kilogramm kilos
    t: tonne tonnes tons
    lb: pounds
    ml: milliliter milliliters millilitre millilitres
    l: liter liters litre litres
    °c: celsius
    °f: fahrenheit
    k: kelvin
    dollar: dollar dollars
    euro: euro euros
    pound_sterling: sterling
    yen: yen
    cent: cents
    %: percent per+cent prozent pourcent процентов
    percentage_point: percentage+point percentage+points
    """
)

OPPOSITES: Mapping[str, tuple[str, ...]] = _read_pairs(
    """
    enable=on: turn+on turned+on turns+on switch+on switched+on
    enable=off: turn+off turned+off turns+off switch+off switched+off
    enable=on: enable enables enabled enabling activate activates activated activating aktivieren aktiviert
    enable=on: aktiviere
    enable=on: activer activé activée activado activada habilitar habilitado attivare attivato ativar ativado
    enable=on: включить
    enable=on: включен включена включено włączyć włączony 启用 開啟 开启 有効 활성화
    enable=off: disable disables disabled disabling deactivate deactivates deactivated deactivating
    enable=off: deaktivieren
    enable=off: deaktiviert désactiver désactivé désactivée desactivar desactivado deshabilitar deshabilitado
    enable=off: disattivare disattivato desativar desativado отключить выключить отключен выключен выключена
    enable=off: wyłączyć wyłączony 禁用 關閉 关闭 停用 無効 비활성화
    on=on: on
    on=off: off
    allow=yes: allow allows allowed allowing permit permits permitted permitting erlauben erlaubt gestattet
    allow=yes: autorise
    allow=yes: autorisé permis permite permitido permesso consentito разрешить разрешено разрешает 允许 許可 허용
    allow=no: deny denies denied denying forbid forbids forbidden prohibit prohibits prohibited block blocks
    allow=no: blocked
    allow=no: disallow disallows disallowed verbieten verboten untersagt interdit interdire prohibido prohíbe
    allow=no: vietato
    allow=no: proibito запретить запрещено запрещает 禁止 拒绝 拒否 금지
    accept=yes: accept accepts accepted accepting approve approves approved annehmen akzeptiert 接受
    accept=no: reject rejects rejected rejecting refuse refuses refused decline declines declined ablehnen
    accept=no: abgelehnt
    grant=yes: grant grants granted granting
    grant=no: revoke revokes revoked revoking
    order=before: before prior avant antes prima bevor vor vorher przed voor före innan до перед 之前 以前 前 전
    order=after: after following après después dopo nachdem nach nachher depois efter после 之后 之後 以后 後 후
    place=above: above oberhalb exceeds exceed exceeding выше 以上 초과
    place=below: below beneath unterhalb ниже 以下 미만
    over=over: over über
    over=under: under unter
    more=more: more mehr plus más più mais больше более meer mer więcej 更多 多于 超过
    more=less: less fewer weniger moins menos meno меньше менее minder mindre mniej 更少 少于
    size=large: greater larger bigger größer größere größer mayor maggiore maior grotere größten
    size=small: smaller kleiner kleinere menor minore kleinere lesser
    height=high: high higher highest höher hoch höchste élevé alto высокий wysoki 高
    height=low: low lower lowest niedriger niedrig niedrigste bas bajo basso baixo низкий niski 低
    length=long: long longer longest länger länge
    length=short: short shorter shortest kürzer kurz
    most=most: maximum max maximal maximale máximo massimo maximaal максимум 最大 最多 최대
    most=least: minimum min minimal minimale mínimo minimo minimaal минимум 最小 最少 최소
    bound=least: at+least mindestens wenigstens
    bound=most: at+most höchstens
    change=up: increase increases increased increasing raise raises raised raising erhöhen erhöht steigt
    change=up: augmenter
    change=up: augmente aumentar aumenta aumentare увеличить увеличивает zwiększa 增加 増加 提高 증가 grow grows grew
    change=up: rise rises rose
    change=down: decrease decreases decreased decreasing reduce reduces reduced reducing lower lowers lowered
    change=down: senken
    change=down: verringern verringert sinkt diminuer diminue réduit disminuir disminuye diminuire riduce
    change=down: reducir reduce
    change=down: diminui уменьшить уменьшает zmniejsza 减少 減少 降低 감소 shrink shrinks fall falls fell drop drops
    change=down: dropped
    truth=true: true wahr vrai verdadero vero verdadeiro истина 真 参
    truth=false: false falsch faux falso ложь 假 偽
    answer=yes: yes
    answer=no: nope
    add=add: add adds added adding append appends hinzufügen ajouter añadir agregar aggiungere adicionar
    add=add: добавить
    add=add: 添加 追加 추가
    add=remove: remove removes removed removing delete deletes deleted deleting entfernen löschen supprimer
    add=remove: eliminar
    add=remove: rimuovere eliminare remover удалить 删除 移除 削除 삭제
    open=open: open opens opened opening öffnen ouvrir abrir aprire открыть 打开 開く
    open=close: close closes closed closing shut schließen fermer cerrar chiudere fechar закрыть 关上 閉じる
    start=start: start starts started starting begin begins launch launches
    start=stop: stop stops stopped stopping end ends finish finishes halt halts
    include=in: include includes included including inclusive enthält einschließlich
    include=out: exclude excludes excluded excluding exclusive ausschließlich
    lock=lock: lock locks locked
    lock=unlock: unlock unlocks unlocked
    public=public: public publicly öffentlich público pubblico публичный 公开
    public=private: private privately privat privado privato приватный 私有
    internal=in: internal internally intern interne interno
    internal=out: external externally extern externe externo
    sync=sync: synchronous synchronously sync
    sync=async: asynchronous asynchronously async
    first=first: first erste ersten premier première primero primer primo primeiro первый 第一
    first=last: last letzte letzten dernier dernière último ultimo последний 最后
    sort=up: ascending aufsteigend croissant ascendente asc
    sort=down: descending absteigend décroissant descendente desc
    load=up: upload uploads uploaded uploading
    load=down: download downloads downloaded downloading
    trade=in: import imports imported importing
    trade=out: export exports exported exporting
    crypt=en: encrypt encrypts encrypted encrypting encryption verschlüsselt chiffré cifrado
    crypt=de: decrypt decrypts decrypted decrypting decryption entschlüsselt plaintext unencrypted
    access=read: read reads reading reader
    access=write: write writes writing written writer
    put=in: input inputs
    put=out: output outputs
    end=source: source sources sender
    end=target: target targets destination destinations receiver recipient
    side=left: left gauche izquierda sinistra esquerda слева lewo 左 왼쪽
    side=right: right rechts droite derecha destra direita справа prawo 右 오른쪽
    way=up: up upward upwards upper top
    way=down: down downward downwards bottom
    compass=north: north northern nord norte 北
    compass=south: south southern süd sud 南
    compass=east: east eastern ost 东 東
    compass=west: west western ouest oeste 西
    market=buy: buy buys bought purchase purchases kaufen acheter comprar
    market=sell: sell sells sold verkaufen vendre vender
    result=good: success succeeds succeed succeeded successful successfully pass passes passed erfolgreich
    result=bad: failure fails fail failed failing unsuccessful unsuccessfully fehlgeschlagen
    truthful=valid: valid gültig valide válido valido
    truthful=invalid: invalid ungültig invalide inválido
    temperature=hot: hot warm warmer heiß
    temperature=cold: cold cool cooler kalt
    speed=fast: fast faster fastest schneller schnell quickly quick
    speed=slow: slow slower slowest langsamer langsam slowly
    send=out: send sends sent sending transmit transmits
    send=in: receive receives received receiving
    push=push: push pushes pushed
    push=pull: pull pulls pulled
    mount=on: mount mounts mounted
    mount=off: unmount unmounts unmounted
    install=on: install installs installed installing
    install=off: uninstall uninstalls uninstalled uninstalling
    grade=up: upgrade upgrades upgraded upgrading
    grade=down: downgrade downgrades downgraded downgrading
    show=show: show shows shown visible display displays displayed anzeigen
    show=hide: hide hides hidden invisible ausblenden
    need=required: required mandatory necessary obligatory compulsory
    need=optional: optional unnecessary
    sign=plus: positive positiv positif positivo
    sign=minus: negative negativ négatif negativo
    inside=in: inside within innerhalb
    inside=out: outside außerhalb
    family=parent: parent parents ancestor ancestors
    family=child: child children descendant descendants
    age=old: old older oldest älter alte ancient
    age=new: new newer newest latest neuer neue
    time=early: early earlier earliest früher früh
    time=late: late later später spät
    line=on: online
    line=off: offline
    axis=horizontal: horizontal horizontally row rows
    axis=vertical: vertical vertically column columns
    fix=prefix: prefix prefixes
    fix=suffix: suffix suffixes
    far=local: local locally lokal
    far=remote: remote remotely entfernt
    motion=static: static statically
    motion=dynamic: dynamic dynamically
    hand=manual: manual manually manuell
    hand=automatic: automatic automatically automatisch
    rank=major: major
    rank=minor: minor
    rank2=primary: primary master leader
    rank2=secondary: secondary replica follower standby slave
    sex=m: male
    sex=f: female
    anybody=any: anyone anybody everyone everybody everything
    anybody=none: nobody nothing
    safe=safe: safe safely secure securely sicher
    safe=unsafe: unsafe unsafely insecure insecurely unsicher dangerous
    stable=stable: stable
    stable=unstable: unstable beta alpha experimental nightly snapshot
    support=current: supported
    support=gone: unsupported deprecated obsolete discontinued
    empty=empty: empty leer vide vacío vuoto 空
    empty=full: full voll plein lleno pieno
    join=on: connect connects connected subscribe subscribes attach attaches attached
    join=off: disconnect disconnects disconnected unsubscribe unsubscribes detach detaches detached
    presence=with: with mit avec con com 含
    presence=without: without ohne sans sin senza sem
    sharing=mutable: mutable
    sharing=immutable: immutable
    blocking=yes: blocking
    blocking=no: nonblocking non-blocking
    same=same: same equal equals identical gleich
    same=different: different unequal differs distinct
    often=always: always immer toujours siempre sempre altijd alltid zawsze vždy всегда завжди luôn selalu
    often=always: 总是 始终 常に いつも 항상 πάντα תמיד دائما हमेशा
    often=sometimes: sometimes occasionally manchmal parfois veces talvolta soms ibland czasem иногда 有时
    often=usually: usually normally typically gewöhnlich meist généralement normalmente обычно 通常
    quantity=all: all every each alle jede jeder jedes tous toutes chaque todos todas tutti tutte ogni все
    quantity=all: каждый 所有
    quantity=all: 全部 すべて 全て 모든 wszystkie všechny tất semua όλα כל كل सभी
    quantity=some: some einige manche quelques certains algunos algunas alcuni alcune alguns algumas enkele
    quantity=some: några
    quantity=some: niektóre некоторые 一些 部分 いくつか 일부
    quantity=most: mostly plupart mayoría maggior maioria большинство 大多数
    often=never: never nie niemals jamais nunca никогда nooit aldrig
    quantity=none: no none kein keine aucun ningún nessun nenhum
    add=add: create creates created creating insert inserts apply applies applied
    add=add: legg* dodaj* dodać přid* додат* добав* ekle* προσθ* הוסף أضف thêm tambah* เพิ่ม जोड़ें
    add=remove: destroy destroys drop usuń usun* odstran* видал* удал* sil silin* διαγρ* מחק احذف xóa hapus*
    add=remove: ลบ हटाएं verwijder* slett* slet*
    whole=whole: full fully complete completely entire entirely whole vollständig* complet* totale
    whole=whole: totalmente
    whole=part: partial partially partly incomplete teilweise partiel* parcial* parzial*
    price=free: free kostenlos kostenfrei gratis gratuit* бесплатн* безкоштовн* 免费 無料 무료 ücretsiz bezpłatn*
    price=free: zdarma
    price=paid: paid kostenpflichtig bezahlt payant* pago pagado платн* 付费 収费 有料 유료 ücretli płatn*
    price=paid: a+pagamento
    open=open: offen* geöffnet* ouvert* abierto* abierta* aperto aperta aberto aberta открыт* відкрит*
    open=open: otwart* otevř* öppen öppna åben* åpen* açık ανοιχτ* פתוח مفتوح खुला mở buka terbuka เปิด 열림
    open=open: 열어
    open=close: geschlossen* fermé* cerrado* cerrada* chiuso chiusa fechado fechada закрыт* закрит* zamkni*
    open=close: zavř* stängd* lukket* kapalı κλειστ* סגור مغلق बंद đóng tutup tertutup ปิด 닫힘 닫아 gesloten
    order=before: przed* před innen ennen πριν לפני قبل पहले önce trước sebelum ก่อน 전에 이전 avanti ante
    order=after: após po után jälkeen μετά אחרי بعد बाद sonra sau setelah sesudah หลัง 후에 이후 apres 后 na
    allow=yes: allowing toegestaan tillåt* tillad* tillatt* sallit* dozwol* povolen* дозвол* разреш* можно
    allow=yes: επιτρ* מותר* مسموح यस अनुमति được+phép diizinkan อนุญาต izin* 가능 允許 erlaub* gestatt* autoris*
    allow=yes: permett* permitid* permess*
    allow=no: verboden förbjud* forbud* forbudt kielle* zabron* zakázán* заборон* запре* нельзя απαγορ*
    allow=no: אסור* محظور ممنوع निषिद्ध cấm dilarang ห้าม yasak* 불가 verbot* untersag* interdit* défendu*
    allow=no: prohib* proib* vietat*
    enable=on: ingeschakeld aktiver* aktivera* aktivoi* włącz* zapnut* zapn* увімк* включ* ενεργοποι* מופעל
    enable=on: مفعل सक्षम bật diaktifkan เปิดใช้ etkin* 활성 啟用 オン activé* activad* attivat* ativad* habilit*
    enable=on: aktivier*
    enable=off: uitgeschakeld deaktiver* inaktivera* wyłącz* vypnut* vypn* вимк* выключ* отключ*
    enable=off: απενεργοποι* מושבת معطل अक्षम tắt dinonaktifkan ปิดใช้ 停用 オフ désactiv* desactiv* disattiv*
    enable=off: desativ* deshabilit* deaktivier*
    most=most: höchst* maximal* maximum* максимальн* maksymaln* maksimaal maxim* massim* máxim* μέγιστ*
    most=most: מקסימ* الأقصى अधिकतम tối+đa maks* สูงสุด en+fazla 最长 最高
    most=least: mindest* minimal* minimum* минимальн* мінімальн* minimaln* minim* mínim* ελάχιστ* מינימ*
    most=least: الأدنى न्यूनतम tối+thiểu ต่ำสุด en+az 最短 最低
    bound=least: least mindestens wenigstens minimálně najmniej au+moins al+menos almeno pelo+menos
    bound=least: ten+minste 至少 少なくとも не+менее
    bound=most: up+to höchstens at+most bis+zu jusqu au+plus como+máximo al+massimo no+máximo hoogstens 最多
    bound=most: 不超过 не+более
    change=up: steig* erhöh* augment* aument* увелич* збільш* zwiększ* zvýš* ökar öka øg* stijg* 上升 上昇 naik
    change=up: tăng artar artır* растёт растет
    change=down: sink* senk* verringer* reduzier* diminu* rédui* dismin* reduc* reduz* ridu* уменьш* зменш*
    change=down: снижа* падает zmniejsz* sníž* minskar minska daal* 下降 下落 turun giảm azal* 줄 감소
    more=more: több enemmän więcej више больше бiльше fler mehr+als περισσότερ* יותר أكثر अधिक hơn lebih
    more=more: daha+fazla 더 以上
    more=less: kevesebb vähemmän mniej färre mindre λιγότερ* פחות أقل कम ít+hơn kurang daha+az 덜 以下
    place=above: über oberhalb au-dessus encima sopra acima boven над powyżej nad üzerinde 上方 위
    place=below: unter unterhalb au-dessous debajo sotto abaixo onder под poniżej pod altında 下方 아래
    truth=true: wahr vraie verdadera vera waar prawda pravda doğru صحيح सही 对
    truth=false: falsche fausse falsa onwaar fałsz nepravda yanlış خطأ गलत 错
    result=good: erfolg* réussi* exitos* riuscit* udany успешн* úspěšn* başarılı 成功 성공
    result=bad: gescheiter* fehler* échou* échec fallid* fallit* nieuda* неудачн* neúspěšn* başarısız 失败 失敗
    result=bad: 실패
    accept=yes: genehmig* approuv* aproba* aprova* approvat* одобр* zatwierdz* 批准 承認 승인
    accept=no: abgelehn* lehnt refus* rejet* rechaz* rejeita* rifiut* отклон* odrzuc* 驳回 却下 거부
    public=public: publi* публичн* öffentlich* offentlig* julkinen
    public=private: priva* приватн* prywatn* soukrom* yksityinen
    start=start: starte* startet gestartet démarr* lanc* inici* avvi* запуск* запуст* uruchom* spust* başla*
    start=start: 启动 開始 시작
    start=stop: stopp* gestoppt beende* arrêt* deten* parar arrest* останов* зупин* zatrzym* zastav* durdur*
    start=stop: 停止 중지
    side=left: links linker venstre vänster vasen sol αριστερ* שמאל يسار बाएं trái kiri ซ้าย
    side=right: rechter høyre höger oikea sağ δεξι* ימין يمين दाएं phải kanan ขวา
    first=first: ersten erster eerste første första pierwsz* první перв* ilk πρώτ* أول पहला 第一
    first=last: letzter laatste siste sista ostatni* poslední последн* son τελευταί* آخر अंतिम 最后一 最後
    number=both: both
    number=one: one either
    size=large: large big
    size=small: small tiny
    depth=shallow: shallow
    depth=deep: deep
    weight=light: light lightweight
    weight=heavy: heavy
    risk=safe: harmless innocuous
    risk=harmful: harmful toxic
    plan=paid: premium
    plan=free: freemium
    credit=credit: credit credits credited
    credit=debit: debit debits debited
    gain=gain: gain gains gained profit profits win wins won
    gain=loss: loss losses lose loses lost
    strength=strong: strong stronger strongest
    strength=weak: weak weaker weakest
    origin=internal: inbound incoming ingress
    origin=external: outbound outgoing egress
    order2=ahead: previous previously preceding
    order2=next: next subsequent subsequently
    entrance=enter: enter enters entering entry login
    entrance=leave: leave leaves leaving exit exits logout
    person=buyer: buyer buyers customer customers tenant tenants employee employees borrower licensee lessee
    person=seller: seller sellers vendor vendors landlord landlords employer employers lender licensor
    person=seller: lessor
    plural=single: single singly
    plural=multiple: multiple several
    mode=read: readable read-only readonly
    mode=write: writable writeable read-write
    case=upper: uppercase
    case=lower: lowercase
    order3=fifo: fifo
    order3=lifo: lifo
    strict=strict: strict strictly
    strict=lenient: lenient loosely
    permanent=permanent: permanent permanently persistent forever
    permanent=temporary: temporary temporarily ephemeral transient
    enable=on: eingeschaltet* einschalt* encend* acces* acend* aan
    enable=off: ausgeschaltet* ausschalt* abgeschaltet* abschalt* éteint* apagad* spent* deslig* uit
    often=often: often frequently häufig oft souvent frecuente* spesso часто vaak ofta często sık 经常 よく 자주
    often=often: غالبا
    often=rarely: rarely seldom infrequently selten rarement raramente raras редко zelden sällan rzadko
    often=rarely: nadiren 很少 めったに 드물 نادرا
    change=up: sube suben subir subió sobe sobem subiu aumentou вырос* растут wzr* rośnie yüksel* ارتفع* 上涨
    change=up: 涨 上が 올랐 올라 오른 상승
    change=down: baja bajan bajar bajó cai caem caiu diminuiu упал* спад* spad* maleje düş* انخفض* 下跌 跌 下が
    change=down: 내렸 내려 내린 하락
    height=high: مرتفع* 높 elevad* haut haute hauts hautes alta altos altas hoge hoog högt hög wysok*
    height=low: منخفض* 낮 faible faibles basse baja bajos baixa bassa lage laag lågt låg nisk*
    open=open: 开门 开业 開い 営業 열려 열린 खुली खुले פתוח* مفتوح* ανοιχτ*
    open=close: 关门 关闭 閉ま 닫혀 닫힌 סגור* مغلق* κλειστ*
    hardness=soft: soft softer weich*
    hardness=hard: hard harder hart
    packet=forward: forward forwards forwarded pass passes passed
    packet=drop: drop drops dropped discard discards discarded block blocks blocked
    rank2=secondary: followers replicas slaves secondaries
    rank2=primary: leaders masters primaries
    age=old: existing former
    add=add: replace replaces replaced
    size=large: supérieur* superior* superiore
    size=small: inférieur* inferior* inferiore
    place=above: 이상 초과
    place=below: 이하 미만
    tax=with: 税込
    tax=without: 税抜
    approval=yes: かまいません かまわない よい
    approval=no: いけません いけない ならない
    motion=forward: forwards ahead
    motion=backward: backward backwards
    sign=plus: plus
    sign=minus: minus
    extent=global: global globally worldwide
    extent=local: local locally regional
    demand=mandatory: mandatory compulsory
    demand=voluntary: voluntary voluntarily
    legal=legal: legal lawful legally
    legal=illegal: illegal unlawful
    guilt=guilty: guilty liable
    guilt=innocent: innocent
    health=alive: alive living
    health=dead: dead deceased
    danger=benign: benign
    danger=malignant: malignant malicious
    pressure=hyper: hypertension hyperglycemia hyperthyroidism
    pressure=hypo: hypotension hypoglycemia hypothyroidism
    dose=maximum: ceiling cap
    dose=minimum: floor
    result=good: win wins won
    result=bad: lose loses lost
    pay=debtor: borrower debtor payer
    pay=creditor: lender creditor payee
    tense=future: upcoming future
    tense=past: past
    fixed=fixed: fixed constant
    fixed=variable: variable floating
    gross=gross: gross brutto brut bruto lordo
    gross=net: net netto neto
    hot=cached: cached
    hot=uncached: uncached
    direction=client: client clients client-side
    direction=server: server servers server-side
    duty=optional: optional
    duty=default: default
    depth=top: topmost outer outermost
    depth=bottom: innermost inner bottommost
    wet=dry: dry
    wet=wet: wet
    clock=clockwise: clockwise
    clock=counter: counterclockwise anticlockwise
    stereo=odd: odd
    stereo=even: even
    compare=lt: <
    compare=gt: >
    compare=le: <=
    compare=ge: >=
    compare=eq: ==
    compare=ne: !=
    """
)
