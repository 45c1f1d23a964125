"""Texts of twenty encodings, two of each: a paragraph, and a short table as spreadsheets export it."""

from collections.abc import Mapping
from dataclasses import dataclass

PARAGRAPHS: Mapping[str, str] = {
    "German": (
        "Sehr geehrte Frau Müller, vielen Dank für Ihre Rückmeldung. Die Lieferung nach Köln verzögert "
        "sich leider um zwei Tage, weil die Straße über den Paß gesperrt ist. Wir übernehmen natürlich "
        "alle Mehrkosten. Schöne Grüße aus München"
    ),
    "French": (
        "Chère équipe, le dépôt a été vérifié hier après-midi. Les œuvres reçues coûtent 1 250 € de "
        "plus que prévu, et la facture n’a pas encore été réglée. Où en êtes-vous ? Répondez-moi dès "
        "que possible, s’il vous plaît."
    ),
    "Polish": (
        "Dzień dobry, zamówienie zostało wysłane wczoraj wieczorem. Prosimy o sprawdzenie, czy "
        "wszystkie części są w paczce, ponieważ magazyn w Łodzi zgłosił błąd. Jeżeli czegoś brakuje, "
        "proszę napisać do działu obsługi klienta."
    ),
    "Czech": (
        "Dobrý den, objednávka byla odeslána včera večer. Prosíme o kontrolu, zda jsou všechny součásti "
        "v balíku, protože sklad v Ústí nahlásil chybu. Pokud něco chybí, napište prosím oddělení péče "
        "o zákazníky. Děkujeme."
    ),
    "Russian": (
        "Добрый день, заказ был отправлен вчера вечером. Пожалуйста, проверьте, все ли детали находятся "
        "в посылке, потому что склад в Казани сообщил об ошибке. Если чего-то не хватает, напишите в "
        "отдел обслуживания клиентов."
    ),
    "Greek": (
        "Καλημέρα σας, η παραγγελία στάλθηκε χθες το βράδυ. Παρακαλούμε ελέγξτε αν όλα τα εξαρτήματα "
        "βρίσκονται στο δέμα, επειδή η αποθήκη στην Πάτρα ανέφερε ένα λάθος. Αν λείπει κάτι, γράψτε στο "
        "τμήμα εξυπηρέτησης πελατών."
    ),
    "Hebrew": (
        "שלום רב, ההזמנה נשלחה אתמול בערב. אנא בדקו אם כל החלקים נמצאים בחבילה, כי המחסן בחיפה דיווח על "
        "טעות. אם משהו חסר, כתבו בבקשה למחלקת שירות הלקוחות ונשלח אותו מיד. תודה על הסבלנות."
    ),
    "Arabic": (
        "صباح الخير، تم إرسال الطلب مساء أمس. يرجى التحقق من وجود جميع القطع في الطرد لأن المستودع في "
        "القاهرة أبلغ عن خطأ. إذا كان هناك شيء ناقص، فاكتبوا إلى قسم خدمة العملاء وسنرسله فورا. شكرا "
        "على صبركم."
    ),
    "Turkish": (
        "İyi günler, sipariş dün akşam gönderildi. Lütfen bütün parçaların pakette olup olmadığını "
        "kontrol edin, çünkü Eskişehir'deki depo bir hata bildirdi. Eksik bir şey varsa müşteri "
        "hizmetlerine yazın. Teşekkür ederiz."
    ),
    "Lithuanian": (
        "Laba diena, užsakymas buvo išsiųstas vakar vakare. Prašome patikrinti, ar visos dalys yra "
        "siuntinyje, nes sandėlis Šiauliuose pranešė apie klaidą. Jeigu ko nors trūksta, parašykite "
        "klientų aptarnavimo skyriui. Ačiū už kantrybę."
    ),
    "Thai": (
        "สวัสดีครับ สินค้าที่สั่งซื้อถูกส่งเมื่อเย็นวานนี้ "
        "กรุณาตรวจสอบว่าชิ้นส่วนทั้งหมดอยู่ในกล่องหรือไม่ "
        "เพราะคลังสินค้าที่เชียงใหม่แจ้งข้อผิดพลาด "
        "หากมีสิ่งใดขาดหายไป โปรดเขียนถึงฝ่ายบริการลูกค้า "
        "ขอบคุณครับ"
    ),
    "Chinese": (
        "您好，订单已于昨天晚上发出。请检查包裹中的零件是否齐全，因为成都的仓库报告了一个错误。如果缺少任何东"
        "西，请写信给客户服务部门，我们会立即补寄。感谢您的耐心等待。"
    ),
    "Taiwanese": (
        "您好，訂單已於昨天晚上寄出。請檢查包裹中的零件是否齊全，因為高雄的倉庫回報了一個錯誤。如果缺少任何東"
        "西，請寫信給客戶服務部門，我們會立即補寄。感謝您的耐心等候。"
    ),
    "Japanese": (
        "お世話になっております。ご注文の商品は昨日の夕方に発送いたしました。大阪の倉庫から部品に誤りがあると"
        "の報告がありましたので、すべての部品が揃っているかご確認ください。不足がございましたら、カスタマーサ"
        "ービスまでご連絡ください。"
    ),
    "Korean": (
        "안녕하세요. 주문하신 상품은 어제 저녁에 발송되었습니다. 부산 창고에서 오류가 보고되었으므로 모든 "
        "부품이 상자에 들어 있는지 확인해 주시기 바랍니다. 빠진 것이 있으면 고객 서비스 부서로 연락해 "
        "주세요. 감사합니다."
    ),
}

TABLES: Mapping[str, str] = {
    "German": "Name;Ort;Betrag\r\nMüller;Köln;12,50\r\nSchäfer;Gießen;7,00\r\n",
    "French": "Nom;Ville;Montant\r\nLefèvre;Orléans;12,50 €\r\nBenoît;Nîmes;7,00 €\r\n",
    "Polish": "Nazwisko;Miasto;Kwota\r\nWiśniewski;Łódź;12,50\r\nZieliński;Gdańsk;7,00\r\n",
    "Czech": "Jméno;Město;Částka\r\nDvořák;Plzeň;12,50\r\nKučera;Třebíč;7,00\r\n",
    "Russian": "Имя;Город;Сумма\r\nИванов;Казань;12,50\r\nСмирнова;Томск;7,00\r\n",
    "Greek": "Όνομα;Πόλη;Ποσό\r\nΠαπαδόπουλος;Αθήνα;12,50\r\nΓεωργίου;Πάτρα;7,00\r\n",
    "Hebrew": "שם;עיר;סכום\r\nכהן;חיפה;12.50\r\nלוי;ירושלים;7.00\r\n",
    "Arabic": "الاسم;المدينة;المبلغ\r\nأحمد;القاهرة;12.50\r\nفاطمة;بيروت;7.00\r\n",
    "Turkish": "Ad;Şehir;Tutar\r\nYıldırım;İzmir;12,50\r\nÖztürk;Eskişehir;7,00\r\n",
    "Lithuanian": "Vardas;Miestas;Suma\r\nŽukauskas;Šiauliai;12,50\r\nPetrauskienė;Panevėžys;7,00\r\n",
    "Thai": "ชื่อ;เมือง;จำนวนเงิน\r\nสมชาย;เชียงใหม่;12.50\r\nสมหญิง;กรุงเทพ;7.00\r\n",
    "Chinese": "姓名,城市,金额\r\n王伟,成都,12.50\r\n李娜,上海,7.00\r\n",
    "Taiwanese": "姓名,城市,金額\r\n陳志明,臺北,12.50\r\n林淑芬,高雄,7.00\r\n",
    "Japanese": "氏名,都市,金額\r\n田中さくら,大阪,12.50\r\n鈴木ハナ,東京,7.00\r\n",
    "Korean": "이름,도시,금액\r\n김민수,부산,12.50\r\n이영희,서울,7.00\r\n",
}

ENCODINGS: Mapping[str, str] = {
    "windows-1252": "German",
    "iso-8859-15": "French",
    "mac-roman": "German",
    "cp850": "German",
    "windows-1250": "Polish",
    "iso-8859-2": "Czech",
    "windows-1251": "Russian",
    "koi8-r": "Russian",
    "cp866": "Russian",
    "windows-1253": "Greek",
    "windows-1255": "Hebrew",
    "windows-1256": "Arabic",
    "windows-1254": "Turkish",
    "windows-1257": "Lithuanian",
    "cp874": "Thai",
    "gbk": "Chinese",
    "big5": "Taiwanese",
    "euc-jp": "Japanese",
    "iso-2022-jp": "Japanese",
    "euc-kr": "Korean",
}


@dataclass(frozen=True, slots=True)
class OldText:
    """A text, and its bytes in one encoding."""

    language: str
    encoding: str
    form: str
    """`paragraph` or `table`."""
    text: str

    @property
    def data(self) -> bytes:
        """Return the bytes of a file with this text."""
        return self.text.encode(self.encoding, "replace")


def old_texts() -> list[OldText]:
    """Return forty texts, two of each encoding."""
    forms = {"paragraph": PARAGRAPHS, "table": TABLES}
    return [
        OldText(language, encoding, form, texts[language])
        for encoding, language in ENCODINGS.items()
        for form, texts in forms.items()
    ]
