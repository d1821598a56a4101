import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': 'لم يتم العثور على البث',
  'pages.videoMissingTitle': 'لم يتم العثور على الفيديو',
  'pages.streamMissingText': 'قد يكون الرابط غير صحيح، أو تمت إزالة البث أو أنه خاص.',
  'pages.videoMissingText': 'قد يكون الرابط غير صحيح، أو تمت إزالة الفيديو أو أنه خاص.',
  'pages.tokenTitle': 'هذا الرابط لا يعمل لديك',
  'pages.tokenText': 'يعمل الرابط الخاص لمشاهد واحد ولمدة محدودة. اطلب رابطًا جديدًا ممن أرسله إليك.',
  'pages.refusedTitle': 'يتعذّر التشغيل هنا',
  'pages.refused.site': 'التشغيل غير مسموح به على هذا الموقع. يُرجى فتحه على موقع يسمح به المالك.',
  'pages.refused.no-site': 'التشغيل متاح على مواقع معيّنة فقط. يُرجى فتح الصفحة التي تتضمّن المشغّل.',
  'pages.refused.country': 'التشغيل غير مسموح به في بلدك.',
  'pages.refused.expired': 'انتهت صلاحية هذا الرابط. يُرجى فتح الصفحة من جديد للحصول على رابط جديد.',
  'pages.refused.clip-expired':
    'انتهت صلاحية رابط هذا المقطع. يُرجى الحصول على رابط جديد من الموقع الذي شاركه.',
  'pages.notFoundTitle': 'لم يتم العثور على الصفحة',
  'pages.notFoundText': 'قد يكون الرابط غير صحيح، أو تم نقل الصفحة.',
  'pages.toStart': 'الانتقال إلى صفحة البداية',
  'pages.channel.videos': 'الفيديوهات',
  'pages.channel.results': 'نتائج البحث',
  'pages.channel.search': 'البحث في الفيديوهات',
  'pages.channel.find': 'بحث',
  'pages.channel.noResults': 'لا توجد فيديوهات تطابق بحثك.',
  'pages.channel.empty': 'لا توجد فيديوهات بعد. عُد قريبًا.',
  'pages.channel.noMore': 'لا توجد فيديوهات أقدم.',
  'pages.channel.older': 'فيديوهات أقدم',
  'pages.channel.newest': 'أحدث الفيديوهات',
  'pages.channel.all': 'كل الفيديوهات',
  'pages.channel.live': 'مباشر',
  'pages.channel.alsoLive': 'مباشر أيضًا',
  'pages.channel.watchLive': 'مشاهدة البث المباشر',
  'pages.channel.watching': 'يشاهدون الآن:',
  'pages.channel.upcoming': 'قريبًا',
  'pages.channel.calendar': 'إضافة إلى التقويم',
  'pages.channel.feed': 'خلاصة RSS',
};

export default messages;
