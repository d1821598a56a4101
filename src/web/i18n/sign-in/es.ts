import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'signIn.title': 'Iniciar sesión en Millrace',
  'signIn.documentTitle': 'Iniciar sesión',
  'signIn.signIn': 'Iniciar sesión',
  'signIn.email': 'Correo electrónico',
  'signIn.password': 'Contraseña',
  'signIn.code': 'Código',
  'signIn.codeHint': 'El de tu aplicación de autenticación o un código de recuperación.',
  'signIn.forgot': '¿Has olvidado tu contraseña?',
  'signIn.startOver': 'Empezar de nuevo',
  'signIn.passkey': 'Iniciar sesión con una llave de acceso',
  'signIn.continueWith': 'Continuar con {provider}',
  'signIn.tryNow': 'Ya puedes volver a intentarlo.',
  'signIn.tryIn': 'Podrás volver a intentarlo en <b>{time}</b>.',
  'signIn.signedOut': 'Se ha cerrado tu sesión. Inicia sesión para continuar donde lo dejaste.',
  'signIn.lostDevice':
    'Si has perdido tu dispositivo y tus códigos de recuperación, el operador puede ejecutar esto en el servidor:',
  'signIn.firstPassword': 'El servidor mostró tu correo y tu contraseña cuando se inició por primera vez.',
  'signIn.forgotTitle': '¿Has olvidado tu contraseña?',
  'signIn.inboxTitle': 'Revisa tu bandeja de entrada',
  'signIn.forgotText':
    'Introduce tu dirección de correo. Te enviaremos un enlace para establecer una contraseña nueva.',
  'signIn.sendLink': 'Enviar enlace',
  'signIn.back': 'Volver al inicio de sesión',
  'signIn.sent':
    'Si hay un usuario con la dirección <b>{email}</b>, le hemos enviado un enlace. Funciona una sola vez, durante una hora.',
  'signIn.spam':
    '¿No ha llegado nada después de unos minutos? Revisa la carpeta de spam y comprueba que la dirección sea correcta.',
  'signIn.sendAnother': 'Enviar otro enlace',
  'signIn.withoutMail':
    'Este servidor no puede enviar correo. Pide una contraseña nueva a su operador, que ejecutará esto en el servidor:',
  'signIn.newPassword': 'Establecer una contraseña nueva',
  'signIn.newPasswordFor': 'Para <b>{email}</b>.',
  'signIn.newPasswordLabel': 'Contraseña nueva',
  'signIn.chosenPassword': 'Elige una contraseña',
  'signIn.confirmPassword': 'Confirmar la contraseña nueva',
  'signIn.passwordsDiffer': 'Las contraseñas no coinciden.',
  'signIn.setPassword': 'Establecer contraseña',
  'signIn.changedTitle': 'Tu contraseña se ha cambiado',
  'signIn.changedText': 'Inicia sesión con tu contraseña nueva.',
  'signIn.linkUsed':
    'Este enlace ya no funciona. Un enlace funciona una sola vez, durante una hora y solo hasta que pidas otro.',
  'signIn.newLink': 'Pedir un enlace nuevo',
  'signIn.passkeysToKeep': 'Llaves de acceso que se conservan',
  'signIn.sessionsToKeep': 'Sesiones que se conservan',
  'signIn.othersRemoved': 'Todas las demás se eliminan.',
  'signIn.sessionItem': '{client}, desde {address}, último uso: {date}',
  'signIn.unverified':
    'Esta dirección aún no está verificada. Al establecer una contraseña se verifica, y se elimina todo lo configurado antes: llaves de acceso, verificación en dos pasos, sesiones y claves de API.',
  'signIn.minLength': 'Usa al menos {count, plural, one {# carácter} other {# caracteres}}.',
  'signIn.tooShort': 'Demasiado corta: {count, plural, one {falta # carácter} other {faltan # caracteres}}.',
  'signIn.tooLong':
    'Demasiado larga: usa como máximo {count, plural, one {# carácter} other {# caracteres}}.',
  'signIn.isEmail': 'Tu dirección de correo no puede ser tu contraseña.',
  'signIn.weak': 'Débil: fácil de adivinar. Usa varias palabras sin relación entre sí.',
  'signIn.fair': 'Aceptable: hazla más larga.',
  'signIn.good': 'Buena.',
  'signIn.strong': 'Muy buena.',
  'signIn.invitationTitle': 'Unirse a un equipo en Millrace',
  'signIn.invitation': 'Invitación',
  'signIn.invitationUsed':
    'Esta invitación ya no es válida. Se aceptó o se retiró, o ha caducado. Pide una nueva.',
  'signIn.invitationText':
    'Te han invitado a unirte a <b>{account}</b> como {role, select, owner {propietario} editor {editor} other {lector}}. La invitación es para <b>{email}</b>.',
  'signIn.otherUser': 'Has iniciado sesión como {email}. Cierra la sesión y vuelve a abrir el enlace.',
  'signIn.signInToAccept': 'Iniciar sesión para aceptar',
  'signIn.accept': 'Aceptar invitación',
  'signIn.signingIn': 'Iniciando sesión…',
  'signIn.backToInvitation': 'Volver a la invitación',
  'signIn.verifiedTitle': 'Tu dirección de correo está verificada',
  'signIn.verified': 'Verificada',
  'signIn.verifiedText':
    'Alguien había creado un usuario con tu dirección antes de que se verificara. Para que nadie más tenga acceso, lo siguiente se ha eliminado o ya no funciona:',
  'signIn.removedPassword': 'La contraseña',
  'signIn.removedTwoFactor': 'La verificación en dos pasos',
  'signIn.removed.passkeys': '{count, plural, one {# llave de acceso} other {# llaves de acceso}}',
  'signIn.removed.sessions': '{count, plural, one {# sesión} other {# sesiones}}',
  'signIn.removed.apiKeys': '{count, plural, one {# clave de API} other {# claves de API}}',
  'signIn.removed.signingKeys': '{count, plural, one {# clave de firma} other {# claves de firma}}',
  'signIn.removed.uploadTokens': '{count, plural, one {# token de subida} other {# tokens de subida}}',
  'signIn.removed.streamKeys':
    '{count, plural, one {# clave de transmisión} other {# claves de transmisión}}',
  'signIn.removed.webhooks': '{count, plural, one {# webhook} other {# webhooks}}',
  'signIn.removed.hooks': '{count, plural, one {# hook} other {# hooks}}',
  'signIn.removed.destinations':
    '{count, plural, one {# retransmisión, fuente o enlace de reproductor} other {# retransmisiones, fuentes y enlaces de reproductor}}',
  'signIn.removed.invitations': '{count, plural, one {# invitación} other {# invitaciones}}',
  'signIn.removed.members':
    '{count, plural, one {# pertenencia de otra persona} other {# pertenencias de otras personas}}',
  'signIn.unknownKeys':
    'El servidor no sabe quién creó {count, plural, one {# de las claves de API restantes} other {# de las claves de API restantes}} de tus cuentas. Elimina las que no reconozcas en la página «API keys».',
  'signIn.continue': 'Continuar',
  'signIn.unknownClient': 'Cliente desconocido',
  'signIn.browserOn': 'Navegador en {system}',
  'signIn.clientOn': '{client} en {system}',
};

export default messages;
