import { beforeAll, expect, it } from 'vitest';
import { makeTempDir } from '../support/temp-dir.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { ControlsPage } from './controls-page.ts';
import { makeVideo, VideoSite } from './vod-fixture.ts';

describeInBrowser("the player element's controls", browser => {
  let folder: string;
  beforeAll(async () => {
    folder = await makeTempDir();
    await makeVideo(folder);
  });

  it('plays, seeks with frames in the bar, and chooses quality, speed and captions', async () => {
    await using site = await VideoSite.start(folder);
    await using controls = await ControlsPage.open(browser(), site);
    const { page, viewer } = controls;
    await controls.untilPhase('ready');
    expect(await page.textContent('#title')).toBe('Mill & weir');
    // A busy machine would be at the end, where there is no bar.
    await controls.read('(media.loop = true)');
    await page.click('#big-play');
    await controls.until('playing', 'media.currentTime > 0.3 && !media.paused');
    await page.hover('#seek', { position: { x: 100, y: 12 } });
    await controls.until(
      'a frame of the video on the first hover',
      `controls.querySelector('media-preview-thumbnail').shadowRoot.querySelector('img').naturalWidth > 0`,
    );
    expect(await page.textContent('#preview-chapter')).toBe('Opening');
    await page.click('#play');
    await controls.until('a pause', 'media.paused');
    const bar = (await page.locator('#seek').boundingBox())!;
    const paused = await controls.read<number>('media.currentTime');
    await page.mouse.move(bar.x + bar.width / 3, bar.y + 12);
    await page.mouse.down();
    await page.mouse.move(bar.x + bar.width / 2, bar.y + 12, { steps: 3 });
    expect(await controls.read<number>('media.currentTime')).toBe(paused);
    await page.mouse.up();
    await controls.until('the middle', 'Math.abs(media.currentTime - 6) < 0.3');
    await until('its chapter', async () =>
      ((await page.textContent('#chapter-name')) ?? '').includes('<i>middle</i>'),
    );
    expect(await page.textContent('#time')).toBe('0:06 / 0:12');

    await page.click('#settings');
    expect(await page.textContent('.menu-item >> nth=0')).toMatch(/^QualityAuto \(\d+p\)$/);
    await page.click('.menu-item:has-text("Quality")');
    await page.click('.menu-item:has-text("240p")');
    expect(await controls.read(`media.videoRenditions[media.videoRenditions.selectedIndex].label`)).toBe(
      '240p',
    );
    await page.click('#settings');
    await page.click('.menu-item:has-text("Speed")');
    await page.click('.menu-item:has-text("1.5×")');
    expect(await controls.read('media.playbackRate')).toBe(1.5);
    await page.click('#captions');
    await page.click('.menu-item:has-text("English")');
    await controls.until(
      'captions',
      `[...media.textTracks].some(({ mode, label }) => mode === 'showing' && label === 'English')`,
    );
    expect(viewer.complaints).toEqual([]);
  });

  it('keeps all controls inside the player at any width, and offers in the menu what the bar leaves out', async () => {
    await using site = await VideoSite.start(folder);
    await using controls = await ControlsPage.open(browser(), site);
    const { page } = controls;
    await controls.pauseAt(2);
    const isInBar = (id: string) => page.isVisible(`#${id}`);
    const left: string[] = [];
    for (const width of [1280, 700, 600, 500, 390, 360, 320, 200]) {
      await page.setViewportSize({ width: width + 16, height: 400 });
      await controls.untilFits();
      const ids = [
        'fullscreen',
        'settings',
        'play',
        'mute',
        'captions',
        'time',
        'share',
        'pip',
        'volume',
        'chapter',
      ];
      for (const id of ids) if (!left.includes(id) && !(await isInBar(id))) left.push(id);
      await page.click('#settings');
      await controls.untilFits();
      await page.keyboard.press('Escape');
    }
    expect(left).toEqual(['chapter', 'pip', 'volume', 'share', 'captions', 'time']);
    await page.click('#settings');
    for (const label of ['Captions', 'Chapters', 'Share', 'Picture in picture', 'Download'])
      expect(await page.isVisible(`.menu-item:has-text("${label}")`), label).toBe(true);
  });
});
