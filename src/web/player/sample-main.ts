import { MillracePlayer } from './element/millrace-player.ts';
import type { MillraceVideo } from './element/millrace-video.ts';
import { SampleSource } from './element/sample-source.ts';
import { asRecord, asText } from './theme/player-theme.ts';
import { onThemePreview } from './theme/theme-preview.ts';

// A player without a video, which previews themes.

const player = document.getElementById('page-player');
if (!(player instanceof MillracePlayer)) throw new Error('the page has no player');
const media = player.media as unknown as MillraceVideo;
const sample = asRecord(JSON.parse(player.dataset.state ?? '{}'));
media.show(new SampleSource(media.nativeEl, asText(sample?.title) ?? '', asText(sample?.poster) ?? ''));
onThemePreview(theme => media.previewTheme(theme));
