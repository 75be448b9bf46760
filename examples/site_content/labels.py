"""What surrounds the text of a page, by language: menus, buttons, notices."""

from __future__ import annotations

Links = tuple[tuple[str, str], ...]
"""(address, text) of each link of a menu."""

LABELS: dict[str, dict[str, str]] = {
    "en": {
        "skip": "Skip to content",
        "search": "Search the documentation",
        "contents": "Contents",
        "outdated": "You are reading the documentation of {version}. The current release is v2.0.",
        "current": "You are reading the documentation of {version}, the current release.",
        "home": "Docs",
        "updated_on": "Last updated on",
        "helpful": "Was this page helpful?",
        "yes": "Yes",
        "no": "No",
        "edit": "Edit this page",
        "previous": "Previous",
        "next": "Next",
        "print_view": "Print view",
        "printed_from": "Printed from",
        "sign_in": "Sign in",
        "published_on": "Published on",
        "share": "Share this page:",
        "mail": "E-mail",
        "copy_link": "Copy link",
        "newsletter": "Stay in the loop",
        "newsletter_text": "One message a month, with releases, talks and a picture of the dog.",
        "subscribe": "Subscribe",
        "copyright": "© 2026 Brindle Systems AB, Gothenburg. All rights reserved.",
        "cookie_text": "We use cookies to count visits and to remember your settings. You can change your "
        "mind at any time in the cookie settings.",
        "cookie_accept": "Accept all",
        "cookie_reject": "Only necessary ones",
    },
    "zh": {
        "skip": "跳到正文",
        "search": "搜索文档",
        "contents": "目录",
        "current": "您正在阅读 {version} 版文档，即当前版本。",
        "home": "文档",
        "updated_on": "最后更新于",
        "helpful": "本页内容对您有帮助吗？",
        "yes": "有",
        "no": "没有",
        "edit": "编辑本页",
        "copyright": "© 2026 Brindle Systems AB，哥德堡。保留所有权利。",
        "cookie_text": "我们使用 Cookie 统计访问量并记住您的设置。您可以随时在 Cookie 设置中更改。",
        "cookie_accept": "全部接受",
        "cookie_reject": "仅限必要",
    },
    "de": {
        "skip": "Zum Inhalt springen",
        "search": "Dokumentation durchsuchen",
        "contents": "Inhalt",
        "current": "Sie lesen die Dokumentation von {version}, der aktuellen Version.",
        "home": "Dokumentation",
        "updated_on": "Zuletzt geändert am",
        "helpful": "War diese Seite hilfreich?",
        "yes": "Ja",
        "no": "Nein",
        "edit": "Seite bearbeiten",
        "copyright": "© 2026 Brindle Systems AB, Göteborg. Alle Rechte vorbehalten.",
        "cookie_text": "Wir verwenden Cookies, um Besuche zu zählen und uns Ihre Einstellungen zu merken. "
        "Sie können Ihre Wahl jederzeit in den Cookie-Einstellungen ändern.",
        "cookie_accept": "Alle annehmen",
        "cookie_reject": "Nur notwendige",
    },
    "ar": {
        "skip": "انتقل إلى المحتوى",
        "search": "ابحث في الوثائق",
        "contents": "المحتويات",
        "current": "أنت تقرأ وثائق الإصدار {version}، وهو الإصدار الحالي.",
        "home": "الوثائق",
        "updated_on": "آخر تحديث في",
        "helpful": "هل كانت هذه الصفحة مفيدة؟",
        "yes": "نعم",
        "no": "لا",
        "edit": "حرّر هذه الصفحة",
        "copyright": "© 2026 شركة Brindle Systems AB، غوتنبرغ. جميع الحقوق محفوظة.",
        "cookie_text": "نستخدم ملفات تعريف الارتباط لإحصاء الزيارات وتذكّر إعداداتك. "
        "يمكنك تغيير رأيك في أي وقت.",
        "cookie_accept": "قبول الكل",
        "cookie_reject": "الضرورية فقط",
    },
    "fr": {
        "home": "Accueil",
        "sign_in": "Connexion",
        "published_on": "Publié le",
        "share": "Partager cette page :",
        "mail": "Courriel",
        "copy_link": "Copier le lien",
        "newsletter": "Restez informés",
        "newsletter_text": "Un message par mois : nouvelles versions, conférences et une photo du chien.",
        "subscribe": "S'abonner",
        "copyright": "© 2026 Brindle Systems AB, Göteborg. Tous droits réservés.",
        "cookie_text": "Nous utilisons des cookies pour compter les visites et mémoriser vos réglages. Vous "
        "pouvez changer d'avis à tout moment.",
        "cookie_accept": "Tout accepter",
        "cookie_reject": "Seulement les cookies nécessaires",
    },
}

MENUS: dict[str, Links] = {
    "en": (
        ("/", "Product"),
        ("/pricing/", "Pricing"),
        ("/customers/", "Customers"),
        ("/blog/", "Blog"),
        ("/press/", "Press"),
        ("/legal/", "Legal"),
    ),
    "fr": (
        ("/fr/", "Produit"),
        ("/fr/tarifs/", "Tarifs"),
        ("/fr/temoignages/", "Témoignages"),
        ("/fr/contact/", "Contact"),
    ),
}

TOP_NAV: dict[str, Links] = {
    "en": (
        ("/", "Docs"),
        ("/api/", "API"),
        ("https://wiki.brindle.example/", "Community"),
        ("/licence/", "Licence"),
    ),
    "zh": (("/zh/", "文档"), ("/api/", "接口"), ("https://wiki.brindle.example/", "社区")),
    "de": (("/de/", "Dokumentation"), ("/api/", "API"), ("https://wiki.brindle.example/", "Community")),
    "ar": (("/ar/", "الوثائق"), ("/api/", "الواجهة"), ("https://wiki.brindle.example/", "المجتمع")),
}

# The English sidebars are made of the pages themselves; of the translations the crawl has one page each.
SIDEBARS: dict[str, Links] = {
    "zh": (
        ("../introduction/", "Brindle 简介"),
        ("../installation/", "安装"),
        ("../quickstart/", "快速入门"),
        ("../consumer-groups/", "消费组"),
        ("../replication/", "复制"),
    ),
    "de": (
        ("../introduction/", "Was Brindle ist"),
        ("../installation/", "Installation"),
        ("../quickstart/", "Erste Schritte"),
        ("../backup-and-restore/", "Sicherung und Wiederherstellung"),
        ("../troubleshooting/", "Fehlersuche"),
    ),
    "ar": (
        ("../introduction/", "ما هو Brindle"),
        ("../installation/", "التثبيت"),
        ("../quickstart/", "بداية سريعة"),
        ("../monitoring/", "المراقبة"),
        ("../security/", "الأمان"),
    ),
}

FOOTERS: dict[str, Links] = {
    "en": (
        ("/legal/imprint/", "Imprint"),
        ("/legal/privacy/", "Privacy"),
        ("/contact/", "Contact"),
        ("/jobs/", "Jobs"),
    ),
    "zh": (("/legal/imprint/", "版权信息"), ("/legal/privacy/", "隐私"), ("/contact/", "联系我们")),
    "de": (("/legal/imprint/", "Impressum"), ("/legal/privacy/", "Datenschutz"), ("/contact/", "Kontakt")),
    "ar": (("/legal/imprint/", "بيانات النشر"), ("/legal/privacy/", "الخصوصية"), ("/contact/", "اتصل بنا")),
    "fr": (
        ("/legal/imprint/", "Mentions légales"),
        ("/legal/privacy/", "Confidentialité"),
        ("/contact/", "Contact"),
    ),
}

ADMONITIONS: dict[str, dict[str, str]] = {
    "en": {"note": "Note", "tip": "Tip", "warning": "Warning"},
    "de": {"warning": "Warnung"},
}
"""The headings of notes and warnings, by language and kind."""
