import { describe, expect, test } from 'vitest';
import { TextFileDecoder } from '../../../../src/media/webvtt/text-file-decoder.ts';
import { TextTrackReader } from '../../../../src/media/webvtt/text-track-reader.ts';

/** Encodes with what `TextDecoder` reads: characters of one byte or two. */
function encoderOf(encoding: string): (text: string) => Buffer {
  const bytesOf = new Map<string, number[]>();
  const decoder = new TextDecoder(encoding, { fatal: true });
  const note = (bytes: number[]) => {
    try {
      const text = decoder.decode(Uint8Array.from(bytes));
      if ([...text].length === 1 && !bytesOf.has(text)) bytesOf.set(text, bytes);
    } catch {
      // No character.
    }
  };
  for (let byte = 0; byte < 256; byte += 1) note([byte]);
  if (/jis|euc|big5|gb/.test(encoding)) {
    for (let first = 0x81; first < 0xff; first += 1) {
      for (let second = 0x40; second < 0xff; second += 1) note([first, second]);
    }
  }
  return text =>
    Buffer.from(
      [...text].flatMap(character => {
        const bytes = bytesOf.get(character);
        if (bytes === undefined) throw new Error(`${character} is not in ${encoding}`);
        return bytes;
      }),
    );
}

function utf16(text: string, isBigEndian: boolean): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return isBigEndian ? bytes.swap16() : bytes;
}

const german = 'Für die größten Häuser müssen wir Straßen überqueren. Ärger gibt es später.';
const polish = 'Zażółć gęślą jaźń. Proszę, czy możesz mi powiedzieć, która jest godzina?';
const czech = 'Příliš žluťoučký kůň úpěl ďábelské ódy. Děkuji, že jste přišli včera večer.';
const russian = 'Привет, как дела? Я сегодня не смогу прийти, потому что очень занят.';
const japanese = 'おはようございます。今日はとても暑いですね。東京駅まで電車で行きましょう。';
const texts: readonly [encoding: string, text: string][] = [
  ['windows-1252', german],
  ['windows-1252', "L'été dernier, j'ai été très déçu par ce garçon où qu'il aille. À bientôt, mon cœur !"],
  ['windows-1252', '¿Dónde está el niño? Mañana comeremos más jamón en la montaña.'],
  ['windows-1252', 'Jag är på väg till sjön. Öppna dörren åt mig, är du snäll.'],
  ['windows-1252', 'Don’t say “never” again – it’s over…'],
  ['windows-1250', polish],
  ['windows-1250', czech],
  ['windows-1250', 'Árvíztűrő tükörfúrógép. Kérem, üljön le, és mondja el, mi történt önnel tegnap éjjel.'],
  ['iso-8859-2', polish],
  ['windows-1251', russian],
  ['windows-1251', 'Доброго дня, як ваші справи? Я сьогодні не зможу прийти, бо дуже зайнята.'],
  ['koi8-r', russian],
  ['windows-1253', 'Καλημέρα, τι κάνεις σήμερα; Δεν ξέρω πού είναι το βιβλίο μου. Ευχαριστώ πολύ.'],
  ['windows-1254', 'Günaydın, nasılsınız? Şimdi ışığı kapatıp dışarı çıkıyoruz. Çok teşekkür ederim.'],
  ['windows-1255', 'שלום, מה שלומך היום? אני לא יודע איפה הספר שלי. תודה רבה לך.'],
  ['windows-1256', 'السلام عليكم، كيف حالك اليوم؟ لا أعرف أين كتابي. شكرا جزيلا لك.'],
  ['windows-1257', 'Labdien, kā jums klājas? Es šodien nevarēšu atnākt, jo esmu ļoti aizņemts.'],
  ['windows-874', 'สวัสดีครับ วันนี้อากาศดีมาก ผมไม่รู้ว่าหนังสืออยู่ที่ไหน ขอบคุณมาก'],
  ['shift_jis', japanese],
  ['euc-jp', japanese],
  ['euc-kr', '안녕하세요. 오늘은 날씨가 정말 좋네요. 저는 지금 서울에 살고 있습니다. 감사합니다.'],
  ['gb18030', '你好,今天天气很好。我们一起去北京吧。他说这个问题很重要,谢谢大家。'],
  ['big5', '你好,今天天氣很好。我們一起去台北吧。他說這個問題很重要,謝謝大家。'],
];
const languages = [
  ...[
    'de',
    'fr',
    'pl',
    'cs',
    'ru',
    'el',
    'tr',
    'he',
    'ar',
    'ja',
    'ko',
    'zh',
    'zh-TW',
    'th',
    'lv',
    'vi',
    'en',
    '',
  ],
];
const cues = {
  SubRip: (text: string) =>
    `1\n00:00:01,000 --> 00:00:04,000\n${text}\n\n2\n00:00:05,000 --> 00:00:06,000\nOK\n`,
  WebVTT: (text: string) => `WEBVTT\n\n00:01.000 --> 00:04.000\n${text}\n`,
};

function decoded(bytes: Buffer, language: string): string {
  const decoder = new TextFileDecoder(bytes, language);
  return decoder.decode(bytes) + decoder.end();
}

describe.each(Object.entries(cues))('%s', (_, fileOf) => {
  test.each(texts)('in %s is read whatever its language is said to be: %s', (encoding, text) => {
    const bytes = encoderOf(encoding)(fileOf(text));
    for (const language of languages)
      expect([language, decoded(bytes, language)]).toEqual([language, fileOf(text)]);
  });

  test.each([german, russian, japanese])(
    'in Unicode is read whatever its language is said to be: %s',
    text => {
      const file = fileOf(text);
      for (const language of languages) {
        for (const mark of ['', '\ufeff']) {
          for (const bytes of [
            Buffer.from(mark + file),
            utf16(mark + file, false),
            utf16(mark + file, true),
          ]) {
            expect(decoded(bytes, language).replace('\ufeff', '')).toBe(file);
          }
        }
      }
    },
  );
});

test('one line among ASCII is enough, and the encoding stays', () => {
  const file = `1\n00:00:01,000 --> 00:00:04,000\nHello\n\n2\n00:00:05,000 --> 00:00:06,000\nGrüße\n`;
  for (const language of languages) expect(decoded(encoderOf('windows-1252')(file), language)).toBe(file);
  const reader = new TextTrackReader(encoderOf('windows-1252')(file), 'ja');
  reader.read(encoderOf('windows-1252')(file));
  reader.end();
  expect(reader.warnings).toContain('The text was converted from WINDOWS-1252 to UTF-8.');
});

test('a few characters that could be UTF-8 are those of the file', () => {
  // The bytes of 'Ä°' are 'İ' in UTF-8.
  const file = 'Grüße aus Köln\nÄ°\nSchöne Häuser\n';
  expect(decoded(encoderOf('windows-1252')(file), 'de')).toBe(file);
});
