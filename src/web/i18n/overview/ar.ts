import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'encoder.source': 'المصدر',
  'encoder.unknown': 'مرمّز',
  'refusal.title': 'تم رفض {encoder}',
  'refusal.titleFrom': 'تم رفض {encoder} من {address}',
  'refusal.times':
    '{count, plural, one {مرة واحدة} two {مرتان} few {# مرات} many {# مرة} other {# مرة}}، آخرها <t>{time}</t>',
  'refusal.endedByYou':
    'لقد أنهيت البث. يُرفض المرمّز «{name}» على العنوان {address} إلى أن يبقى بعيدًا لمدة دقيقة.',
  'refusal.endedByYouUnnamed':
    'لقد أنهيت البث. يُرفض المرمّز على العنوان {address} إلى أن يبقى بعيدًا لمدة دقيقة.',
  'refusal.allowAgain': 'السماح مجددًا',
  'refusal.allowed': 'يمكن للمرمّز بدء البث المباشر مجددًا.',
  'alarm.keyframesTooFarApart': 'الإطارات المفتاحية متباعدة جدًا',
  'alarm.bitrateCollapsed': 'انهار معدل البت',
  'alarm.bitrateLow': 'معدل البت منخفض جدًا',
  'alarm.frameRateCollapsed': 'انهار معدل الإطارات',
  'alarm.audioMissing': 'لا يوجد صوت',
  'alarm.videoMissing': 'لا توجد صورة',
  'alarm.timestampsJumping': 'قفزات في الطوابع الزمنية',
  'alarm.audioVideoDrift': 'يتباعد الصوت عن الصورة',
  'alarm.frequentReconnects': 'يعيد المرمّز الاتصال كثيرًا',
  'capture.needsHttps':
    'تسمح المتصفحات بالكاميرا والميكروفون على صفحات HTTPS وعلى localhost فقط. أعدّ شهادة لهذا الخادم، ثم افتح هذه الصفحة عبر HTTPS.',
  'capture.noWebRtc':
    'لا يستطيع هذا المتصفح إرسال الفيديو عبر WebRTC. استخدم إصدارًا حديثًا من Chrome أو Firefox، أو استخدم OBS Studio.',
  'capture.notAllowed':
    'لا يسمح متصفحك لهذه الصفحة باستخدام {source, select, camera {الكاميرا} other {الميكروفون}}. اسمح بذلك من الأيقونة بجانب العنوان، ثم أعد المحاولة.',
  'capture.notFound':
    'لم يتم العثور على {source, select, camera {كاميرا} microphone {ميكروفون} other {شاشة}}. صِل الجهاز، ثم أعد المحاولة.',
  'capture.disconnected':
    '{source, select, camera {لم تعد هذه الكاميرا متصلة} microphone {لم يعد هذا الميكروفون متصلًا} other {لم تعد هذه الشاشة متصلة}}. اختر جهازًا آخر.',
  'capture.inUse':
    'يتعذّر استخدام {source, select, camera {الكاميرا} microphone {الميكروفون} other {الشاشة}}. أغلق التطبيقات الأخرى التي تستخدم الجهاز، ثم أعد المحاولة.',
  'capture.failed':
    'يتعذّر استخدام {source, select, camera {الكاميرا} microphone {الميكروفون} other {الشاشة}}: {reason}',
};

export default messages;
