/** Writes the planned starts of live streams in the time zone of the viewer. The server has written them in UTC. */
const { lang } = document.documentElement;
const locale = navigator.languages.find(language => language.split('-')[0] === lang) ?? lang;
const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' });
for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-local]'))
  time.textContent = format.format(new Date(time.dateTime));

export {};
