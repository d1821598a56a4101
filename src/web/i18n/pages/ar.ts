import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': 'لم يتم العثور على البث',
  'pages.videoMissingTitle': 'لم يتم العثور على الفيديو',
  'pages.streamMissingText': 'قد يكون الرابط غير صحيح، أو تمت إزالة البث أو أنه خاص.',
  'pages.videoMissingText': 'قد يكون الرابط غير صحيح، أو تمت إزالة الفيديو أو أنه خاص.',
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
};

export default messages;
