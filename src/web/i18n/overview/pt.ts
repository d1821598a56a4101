import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'encoder.source': 'A fonte',
  'encoder.unknown': 'Um codificador',
  'refusal.title': 'Recusado: {encoder}',
  'refusal.titleFrom': 'Recusado: {encoder} de {address}',
  'refusal.times': '{count, plural, one {# vez} many {# vezes} other {# vezes}}, a última <t>{time}</t>',
  'refusal.endedByYou':
    'Você encerrou a transmissão. O codificador “{name}” em {address} é recusado até ficar um minuto sem se conectar.',
  'refusal.endedByYouUnnamed':
    'Você encerrou a transmissão. O codificador em {address} é recusado até ficar um minuto sem se conectar.',
  'refusal.allowAgain': 'Permitir novamente',
  'refusal.allowed': 'O codificador pode transmitir ao vivo novamente.',
  'alarm.keyframesTooFarApart': 'Os quadros-chave estão muito distantes',
  'alarm.bitrateCollapsed': 'A taxa de bits despencou',
  'alarm.bitrateLow': 'A taxa de bits está muito baixa',
  'alarm.frameRateCollapsed': 'A taxa de quadros despencou',
  'alarm.audioMissing': 'Sem áudio',
  'alarm.videoMissing': 'Sem vídeo',
  'alarm.timestampsJumping': 'Os timestamps estão saltando',
  'alarm.audioVideoDrift': 'O áudio e o vídeo estão dessincronizando',
  'alarm.frequentReconnects': 'O codificador reconecta com frequência',
  'capture.needsHttps':
    'Os navegadores só permitem a câmera e o microfone em páginas HTTPS e em localhost. Configure um certificado para este servidor e abra esta página via HTTPS.',
  'capture.noWebRtc':
    'Este navegador não consegue enviar vídeo via WebRTC. Use uma versão atual do Chrome ou Firefox, ou o OBS Studio.',
  'capture.notAllowed':
    'Seu navegador não permite que esta página use {source, select, camera {a câmera} other {o microfone}}. Permita com o ícone ao lado do endereço e tente novamente.',
  'capture.notFound':
    '{source, select, camera {Nenhuma câmera encontrada} microphone {Nenhum microfone encontrado} other {Nenhuma tela encontrada}}. Conecte o dispositivo e tente novamente.',
  'capture.disconnected':
    '{source, select, camera {Esta câmera não está mais conectada} microphone {Este microfone não está mais conectado} other {Esta tela não está mais conectada}}. Escolha outro dispositivo.',
  'capture.inUse':
    'Não é possível usar {source, select, camera {a câmera} microphone {o microfone} other {a tela}}. Feche outros apps que usam o dispositivo e tente novamente.',
  'capture.failed':
    'Não é possível usar {source, select, camera {a câmera} microphone {o microfone} other {a tela}}: {reason}',
};

export default messages;
