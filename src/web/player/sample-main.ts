import { formatTime } from '../shared/time-text.ts';
import { replaceColors, showLogo } from './theme/apply-theme.ts';
import { onThemePreview } from './theme/theme-preview.ts';
import { pageElement } from './ui/page-elements.ts';

// A player without a video, which previews themes.

const root = pageElement('player', HTMLElement);
const poster = pageElement('poster', HTMLImageElement);
const totalSeconds = 120;

root.dataset.phase = 'ready';
root.classList.remove('is-fresh');
poster.style.opacity = '1';
poster.style.visibility = 'visible';
pageElement('seek', HTMLElement).style.setProperty('--played', '35%');
pageElement('seek-loaded', HTMLElement).style.backgroundImage =
  'linear-gradient(to right, currentcolor 62%, transparent 62%)';
pageElement('time', HTMLElement).textContent =
  `${formatTime(totalSeconds * 0.35)} / ${formatTime(totalSeconds)}`;

onThemePreview(theme => {
  replaceColors(root, theme.colors);
  showLogo(pageElement('logo', HTMLElement), theme.logo);
  root.classList.toggle('hide-controls', !theme.enableControls);
  root.classList.toggle('hide-title', theme.hideTitle);
});
