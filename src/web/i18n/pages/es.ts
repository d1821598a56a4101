import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': 'No se ha encontrado la emisión',
  'pages.videoMissingTitle': 'No se ha encontrado el vídeo',
  'pages.streamMissingText':
    'Puede que el enlace tenga un error, o que la emisión se haya eliminado o sea privada.',
  'pages.videoMissingText':
    'Puede que el enlace tenga un error, o que el vídeo se haya eliminado o sea privado.',
  'pages.tokenTitle': 'Este enlace no te funciona',
  'pages.tokenText':
    'Un enlace privado sirve para un solo espectador y por un tiempo limitado. Pide uno nuevo a la persona que te lo envió.',
  'pages.refusedTitle': 'No se puede reproducir aquí',
  'pages.refused.site':
    'No se permite la reproducción en este sitio. Ábrelo en un sitio que el propietario permita.',
  'pages.refused.no-site':
    'La reproducción está limitada a determinados sitios. Abre la página que inserta el reproductor.',
  'pages.refused.country': 'No se permite la reproducción en tu país.',
  'pages.refused.expired': 'Este enlace ha caducado. Vuelve a abrir la página para obtener uno nuevo.',
  'pages.refused.clip-expired':
    'Este enlace al clip ha caducado. Consigue uno nuevo en el sitio que lo compartió.',
  'pages.notFoundTitle': 'No se ha encontrado la página',
  'pages.notFoundText': 'Puede que el enlace tenga un error o que la página se haya movido.',
  'pages.toStart': 'Ir a la página de inicio',
  'pages.channel.videos': 'Vídeos',
  'pages.channel.results': 'Resultados de la búsqueda',
  'pages.channel.search': 'Buscar vídeos',
  'pages.channel.find': 'Buscar',
  'pages.channel.noResults': 'Ningún vídeo coincide con tu búsqueda.',
  'pages.channel.empty': 'Aún no hay vídeos. Vuelve pronto.',
  'pages.channel.noMore': 'No hay vídeos más antiguos.',
  'pages.channel.older': 'Vídeos más antiguos',
  'pages.channel.newest': 'Vídeos más recientes',
  'pages.channel.all': 'Todos los vídeos',
  'pages.channel.live': 'En directo',
  'pages.channel.alsoLive': 'También en directo',
  'pages.channel.watchLive': 'Ver en directo',
  'pages.channel.watching': 'Espectadores ahora:',
  'pages.channel.upcoming': 'Próximamente',
  'pages.channel.calendar': 'Añadir al calendario',
  'pages.channel.feed': 'Canal RSS',
};

export default messages;
