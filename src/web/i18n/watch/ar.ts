import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'watch.chapters': 'الفصول',
  'watch.transcript': 'النص المكتوب',
  'watch.searchTranscript': 'البحث في النص',
  'watch.language': 'اللغة',
  'watch.followPlayback': 'متابعة التشغيل',
  'watch.loading': 'جارٍ التحميل…',
  'watch.noTranscript': 'يتعذّر تحميل النص.',
  'watch.matches':
    '{count, plural, zero {لا نتائج} one {نتيجة واحدة} two {نتيجتان} few {# نتائج} many {# نتيجة} other {# نتيجة}}',
  'watch.live': 'مباشر',
  'watch.share': 'مشاركة',
  'watch.theatre': 'وضع المسرح',
  'watch.showMore': 'عرض المزيد',
  'watch.showLess': 'عرض أقل',
  'watch.streamRecorded': 'تم تسجيل البث الأخير.',
  'watch.watchRecording': 'مشاهدة التسجيل',
  'watch.streamEnded': 'انتهى البث. أنت تشاهد التسجيل.',
  'watch.openRecording': 'فتح صفحة التسجيل',
  'watch.liveAgain': 'عاد البث المباشر.',
  'watch.watchLive': 'مشاهدة البث المباشر',
  'watch.upNext': 'التالي',
  'watch.moreVideos': 'مزيد من الفيديوهات',
  'watch.starts': 'يبدأ {time}',
  'watch.startPlanned': 'البدء المقرر: {time}. يبدأ البث هنا بمجرد أن يصبح مباشرًا.',
  'watch.addToCalendar': 'إضافة إلى التقويم',
  'watch.viewers':
    '{count, plural, zero {لا مشاهدين} one {مشاهد واحد} two {مشاهدان} few {# مشاهدين} many {# مشاهدًا} other {# مشاهد}}',
};

export default messages;
