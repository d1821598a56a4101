import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': 'Direct introuvable',
  'pages.videoMissingTitle': 'Vidéo introuvable',
  'pages.streamMissingText':
    'Le lien contient peut-être une erreur, ou le direct a été supprimé ou est privé.',
  'pages.videoMissingText':
    'Le lien contient peut-être une erreur, ou la vidéo a été supprimée ou est privée.',
  'pages.tokenTitle': 'Ce lien ne fonctionne pas pour vous',
  'pages.tokenText':
    'Un lien privé est valable pour un seul spectateur et pour une durée limitée. Demandez-en un nouveau à la personne qui vous l’a envoyé.',
  'pages.refusedTitle': 'Lecture impossible ici',
  'pages.refused.site':
    'La lecture n’est pas autorisée sur ce site. Ouvrez-la sur un site autorisé par le propriétaire.',
  'pages.refused.no-site': 'La lecture est réservée à certains sites. Ouvrez la page qui intègre le lecteur.',
  'pages.refused.country': 'La lecture n’est pas autorisée dans votre pays.',
  'pages.refused.expired': 'Ce lien a expiré. Rouvrez la page pour en obtenir un nouveau.',
  'pages.refused.clip-expired':
    'Ce lien vers l’extrait a expiré. Demandez-en un nouveau sur le site qui l’a partagé.',
  'pages.notFoundTitle': 'Page introuvable',
  'pages.notFoundText': 'Le lien contient peut-être une erreur, ou la page a été déplacée.',
  'pages.toStart': 'Aller à la page d’accueil',
  'pages.channel.videos': 'Vidéos',
  'pages.channel.results': 'Résultats de la recherche',
  'pages.channel.search': 'Rechercher des vidéos',
  'pages.channel.find': 'Rechercher',
  'pages.channel.noResults': 'Aucune vidéo ne correspond à votre recherche.',
  'pages.channel.empty': 'Pas encore de vidéos. Revenez bientôt.',
  'pages.channel.noMore': 'Il n’y a pas de vidéos plus anciennes.',
  'pages.channel.older': 'Vidéos plus anciennes',
  'pages.channel.newest': 'Vidéos les plus récentes',
  'pages.channel.all': 'Toutes les vidéos',
  'pages.channel.live': 'En direct',
  'pages.channel.alsoLive': 'Également en direct',
  'pages.channel.watchLive': 'Regarder en direct',
  'pages.channel.watching': 'Spectateurs en ce moment :',
  'pages.channel.upcoming': 'À venir',
  'pages.channel.calendar': 'Ajouter à l’agenda',
  'pages.channel.feed': 'Flux RSS',
};

export default messages;
