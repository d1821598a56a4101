import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'signIn.title': 'تسجيل الدخول إلى Millrace',
  'signIn.documentTitle': 'تسجيل الدخول',
  'signIn.signIn': 'تسجيل الدخول',
  'signIn.email': 'البريد الإلكتروني',
  'signIn.password': 'كلمة المرور',
  'signIn.code': 'الرمز',
  'signIn.codeHint': 'من تطبيق المصادقة، أو أحد رموز الاسترداد.',
  'signIn.forgot': 'هل نسيت كلمة المرور؟',
  'signIn.startOver': 'البدء من جديد',
  'signIn.passkey': 'تسجيل الدخول بمفتاح مرور',
  'signIn.continueWith': 'المتابعة باستخدام {provider}',
  'signIn.tryNow': 'يمكنك إعادة المحاولة الآن.',
  'signIn.tryIn': 'يمكنك إعادة المحاولة بعد <b>{time}</b>.',
  'signIn.signedOut': 'تم تسجيل خروجك. سجّل الدخول للمتابعة من حيث توقفت.',
  'signIn.lostDevice': 'إذا فقدت جهازك ورموز الاسترداد، يمكن لمشغّل الخادم تنفيذ هذا الأمر على الخادم:',
  'signIn.firstPassword': 'عرض الخادم بريدك الإلكتروني وكلمة مرورك عند تشغيله لأول مرة.',
  'signIn.forgotTitle': 'هل نسيت كلمة المرور؟',
  'signIn.inboxTitle': 'تحقّق من بريدك الوارد',
  'signIn.forgotText': 'أدخل عنوان بريدك الإلكتروني، وسنرسل إليك رابطًا لتعيين كلمة مرور جديدة.',
  'signIn.sendLink': 'إرسال الرابط',
  'signIn.back': 'العودة إلى تسجيل الدخول',
  'signIn.sent':
    'إذا كان هناك مستخدم بالعنوان <b>{email}</b>، فقد أرسلنا إليه رابطًا. يعمل الرابط مرة واحدة خلال ساعة.',
  'signIn.spam': 'لم تصلك رسالة بعد بضع دقائق؟ تحقّق من مجلد الرسائل غير المرغوب فيها ومن صحة العنوان.',
  'signIn.sendAnother': 'إرسال رابط آخر',
  'signIn.withoutMail':
    'لا يمكن لهذا الخادم إرسال بريد إلكتروني. اطلب كلمة مرور جديدة من مشغّل الخادم، الذي ينفّذ هذا الأمر على الخادم:',
  'signIn.newPassword': 'تعيين كلمة مرور جديدة',
  'signIn.newPasswordFor': 'للعنوان <b>{email}</b>.',
  'signIn.newPasswordLabel': 'كلمة المرور الجديدة',
  'signIn.chosenPassword': 'اختيار كلمة مرور',
  'signIn.confirmPassword': 'تأكيد كلمة المرور الجديدة',
  'signIn.passwordsDiffer': 'كلمتا المرور غير متطابقتين.',
  'signIn.setPassword': 'تعيين كلمة المرور',
  'signIn.changedTitle': 'تم تغيير كلمة المرور',
  'signIn.changedText': 'سجّل الدخول بكلمة المرور الجديدة.',
  'signIn.linkUsed': 'لم يعد هذا الرابط يعمل. يعمل الرابط مرة واحدة خلال ساعة، وإلى أن تطلب رابطًا آخر فقط.',
  'signIn.newLink': 'طلب رابط جديد',
  'signIn.passkeysToKeep': 'مفاتيح المرور المطلوب الاحتفاظ بها',
  'signIn.sessionsToKeep': 'الجلسات المطلوب الاحتفاظ بها',
  'signIn.othersRemoved': 'ستتم إزالة كل ما عدا ذلك.',
  'signIn.sessionItem': '{client}، من {address}، آخر استخدام: {date}',
  'signIn.unverified':
    'لم يتم التحقّق من هذا العنوان بعد. يؤدي تعيين كلمة مرور إلى التحقّق منه، وإزالة كل ما تم إعداده سابقًا: مفاتيح المرور والتحقّق بخطوتين والجلسات ومفاتيح API.',
  'signIn.minLength':
    'استخدم على الأقل {count, plural, one {حرفًا واحدًا} two {حرفين} few {# أحرف} many {# حرفًا} other {# حرف}}.',
  'signIn.tooShort':
    'قصيرة جدًا: {count, plural, one {ينقصها حرف واحد} two {ينقصها حرفان} few {ينقصها # أحرف} many {ينقصها # حرفًا} other {ينقصها # حرف}}.',
  'signIn.tooLong':
    'طويلة جدًا: الحد الأقصى {count, plural, one {حرف واحد} two {حرفان} few {# أحرف} many {# حرفًا} other {# حرف}}.',
  'signIn.isEmail': 'لا يمكن أن يكون بريدك الإلكتروني هو كلمة المرور.',
  'signIn.weak': 'ضعيفة: يسهل تخمينها. استخدم عدة كلمات لا علاقة بينها.',
  'signIn.fair': 'مقبولة: اجعلها أطول.',
  'signIn.good': 'جيدة.',
  'signIn.strong': 'قوية.',
  'signIn.invitationTitle': 'الانضمام إلى فريق على Millrace',
  'signIn.invitation': 'دعوة',
  'signIn.invitationUsed': 'لم تعد هذه الدعوة صالحة. فقد قُبلت أو سُحبت أو انتهت صلاحيتها. اطلب دعوة جديدة.',
  'signIn.invitationText':
    'تمت دعوتك للانضمام إلى <b>{account}</b> بصفة {role, select, owner {مالك} editor {محرّر} other {قارئ}}. الدعوة موجَّهة إلى <b>{email}</b>.',
  'signIn.otherUser': 'سجّلت الدخول باسم {email}. سجّل الخروج، ثم افتح الرابط من جديد.',
  'signIn.signInToAccept': 'تسجيل الدخول للقبول',
  'signIn.accept': 'قبول الدعوة',
  'signIn.signingIn': 'جارٍ تسجيل دخولك…',
  'signIn.backToInvitation': 'العودة إلى الدعوة',
  'signIn.verifiedTitle': 'تم التحقّق من بريدك الإلكتروني',
  'signIn.verified': 'تم التحقّق',
  'signIn.verifiedText':
    'أنشأ شخص ما مستخدمًا بعنوانك قبل التحقّق منه. لمنع وصول الآخرين، تمت إزالة ما يلي أو لم يعد يعمل:',
  'signIn.removedPassword': 'كلمة المرور',
  'signIn.removedTwoFactor': 'التحقّق بخطوتين',
  'signIn.removed.passkeys':
    '{count, plural, one {مفتاح مرور واحد} two {مفتاحا مرور} few {# مفاتيح مرور} many {# مفتاح مرور} other {# مفتاح مرور}}',
  'signIn.removed.sessions':
    '{count, plural, one {جلسة واحدة} two {جلستان} few {# جلسات} many {# جلسة} other {# جلسة}}',
  'signIn.removed.apiKeys':
    '{count, plural, one {مفتاح API واحد} two {مفتاحا API} few {# مفاتيح API} many {# مفتاح API} other {# مفتاح API}}',
  'signIn.removed.signingKeys':
    '{count, plural, one {مفتاح توقيع واحد} two {مفتاحا توقيع} few {# مفاتيح توقيع} many {# مفتاح توقيع} other {# مفتاح توقيع}}',
  'signIn.removed.uploadTokens':
    '{count, plural, one {رمز رفع واحد} two {رمزا رفع} few {# رموز رفع} many {# رمز رفع} other {# رمز رفع}}',
  'signIn.removed.streamKeys':
    '{count, plural, one {مفتاح بث واحد} two {مفتاحا بث} few {# مفاتيح بث} many {# مفتاح بث} other {# مفتاح بث}}',
  'signIn.removed.webhooks':
    '{count, plural, one {عنصر webhook واحد} two {عنصرا webhook} few {# عناصر webhook} many {# عنصر webhook} other {# عنصر webhook}}',
  'signIn.removed.hooks':
    '{count, plural, one {خطاف واحد} two {خطافان} few {# خطافات} many {# خطافًا} other {# خطاف}}',
  'signIn.removed.destinations':
    '{count, plural, one {وجهة إعادة بث أو مصدر أو رابط مشغّل} two {وجهتان لإعادة البث أو مصدران أو رابطا مشغّل} few {# وجهات إعادة بث ومصادر وروابط مشغّل} many {# وجهة إعادة بث ومصدر ورابط مشغّل} other {# وجهة إعادة بث ومصدر ورابط مشغّل}}',
  'signIn.removed.invitations':
    '{count, plural, one {دعوة واحدة} two {دعوتان} few {# دعوات} many {# دعوة} other {# دعوة}}',
  'signIn.removed.members':
    '{count, plural, one {عضوية واحدة لآخرين} two {عضويتان لآخرين} few {# عضويات لآخرين} many {# عضوية لآخرين} other {# عضوية لآخرين}}',
  'signIn.unknownKeys':
    'لا يعرف الخادم من أنشأ {count, plural, one {مفتاحًا واحدًا} two {مفتاحين} few {# مفاتيح} many {# مفتاحًا} other {# مفتاح}} من مفاتيح API المتبقية في حساباتك. احذف ما لا تعرفه منها في صفحة «API keys».',
  'signIn.continue': 'متابعة',
  'signIn.unknownClient': 'برنامج غير معروف',
  'signIn.browserOn': 'متصفّح على {system}',
  'signIn.clientOn': '{client} على {system}',
};

export default messages;
