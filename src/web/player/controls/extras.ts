/** Code that a player needs after its first frame: it is loaded then. */
export { ClipCard } from './clip-card.ts';
export { EndScreen } from './end-screen.ts';
export { default as styles } from './extras.css';
export { openKeyHelp } from './key-help.ts';
export { Menu } from './menu.ts';
export { Menus } from './menus.ts';
export { openPlaylist } from './playlist-panel.ts';
