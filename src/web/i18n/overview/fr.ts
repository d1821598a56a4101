import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'encoder.source': 'La source',
  'encoder.unknown': 'Un encodeur',
  'refusal.title': 'Refusé : {encoder}',
  'refusal.titleFrom': 'Refusé : {encoder} depuis {address}',
  'refusal.times': '{count, plural, one {# fois} many {# fois} other {# fois}}, dernière fois <t>{time}</t>',
  'refusal.endedByYou':
    'Vous avez mis fin à la diffusion. L’encodeur « {name} » à l’adresse {address} est refusé tant qu’il n’est pas resté absent pendant une minute.',
  'refusal.endedByYouUnnamed':
    'Vous avez mis fin à la diffusion. L’encodeur à l’adresse {address} est refusé tant qu’il n’est pas resté absent pendant une minute.',
  'refusal.allowAgain': 'Autoriser à nouveau',
  'refusal.allowed': 'L’encodeur peut de nouveau passer en direct.',
  'alarm.keyframesTooFarApart': 'Images clés trop espacées',
  'alarm.bitrateCollapsed': 'Le débit s’est effondré',
  'alarm.bitrateLow': 'Le débit est trop faible',
  'alarm.frameRateCollapsed': 'Le nombre d’images par seconde s’est effondré',
  'alarm.audioMissing': 'Pas de son',
  'alarm.videoMissing': 'Pas d’image',
  'alarm.timestampsJumping': 'Sauts d’horodatage',
  'alarm.audioVideoDrift': 'L’audio et la vidéo se décalent',
  'alarm.frequentReconnects': 'L’encodeur se reconnecte fréquemment',
  'capture.needsHttps':
    'Les navigateurs n’autorisent la caméra et le micro que sur les pages HTTPS et sur localhost. Configurez un certificat pour ce serveur, puis ouvrez cette page en HTTPS.',
  'capture.noWebRtc':
    'Ce navigateur ne peut pas envoyer de vidéo via WebRTC. Utilisez une version récente de Chrome ou Firefox, ou OBS Studio.',
  'capture.notAllowed':
    'Votre navigateur n’autorise pas cette page à utiliser {source, select, camera {la caméra} other {le micro}}. Autorisez-la avec l’icône à côté de l’adresse, puis réessayez.',
  'capture.notFound':
    '{source, select, camera {Aucune caméra trouvée} microphone {Aucun micro trouvé} other {Aucun écran trouvé}}. Branchez l’appareil, puis réessayez.',
  'capture.disconnected':
    '{source, select, camera {Cette caméra n’est plus connectée} microphone {Ce micro n’est plus connecté} other {Cet écran n’est plus connecté}}. Choisissez un autre appareil.',
  'capture.inUse':
    '{source, select, camera {La caméra ne peut pas être utilisée} microphone {Le micro ne peut pas être utilisé} other {L’écran ne peut pas être utilisé}}. Fermez les autres applications qui l’utilisent, puis réessayez.',
  'capture.failed':
    '{source, select, camera {La caméra ne peut pas être utilisée} microphone {Le micro ne peut pas être utilisé} other {L’écran ne peut pas être utilisé}} : {reason}',
};

export default messages;
