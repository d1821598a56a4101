/** Writes the planned starts of live streams in the time zone of the viewer. The server has written them in UTC. */
const { lang } = document.documentElement;
const locale = navigator.languages.find(language => language.split('-')[0] === lang) ?? lang;
// Digits are European in every language, like those of the server.
const format = new Intl.DateTimeFormat(locale, {
  dateStyle: 'full',
  timeStyle: 'short',
  numberingSystem: 'latn',
});
for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-local]'))
  time.textContent = format.format(new Date(time.dateTime));

export {};
