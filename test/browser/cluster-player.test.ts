import { beforeAll, describe, expect, it } from 'vitest';
import { createLiveStream, type ServerProcess } from '../../scripts/server-process.ts';
import { clusterMissing, LiveCluster, publishTo } from '../support/live-cluster.ts';
import { describeInBrowser, until, WatchedPage } from './browser-fixture.ts';

if (clusterMissing !== undefined) console.log(`skipped: ${clusterMissing}`);

describe.skipIf(clusterMissing !== undefined)('several servers', () => {
  describeInBrowser('the player page of one of them', browser => {
    const cluster = new LiveCluster();
    let page: ServerProcess;
    let other: ServerProcess;

    beforeAll(async () => {
      page = await cluster.start();
      other = await cluster.start();
    });

    async function watch() {
      const packaging = await cluster.start();
      const stream = await createLiveStream(page.baseUrl, page.productionKey, 'a stream');
      const first = publishTo(packaging, stream);
      const viewer = await WatchedPage.openPlayer(browser(), `${page.baseUrl}/live/${stream.liveStreamId}`);
      await viewer.untilPlayed(2);
      await viewer.page.evaluate('window.isSamePage = true');
      return { packaging, stream, first, viewer };
    }

    async function expectContinued(viewer: WatchedPage) {
      const startedMs = performance.now();
      await viewer.untilPlayed(2);
      await until('live', async () => (await viewer.phase()) === 'live');
      console.log(`played on after ${Math.round(performance.now() - startedMs)} ms`);
      await until('the newest picture', async () => (await viewer.latencySeconds()) < 5);
      expect(await viewer.page.evaluate<boolean>('window.isSamePage === true')).toBe(true);
    }

    it('continues by itself on another server when the one of the media is killed', async () => {
      const { packaging, stream, first, viewer } = await watch();
      packaging.child.kill('SIGKILL');
      await first.exited;
      await using _second = publishTo(other, stream);
      await expectContinued(viewer);
      await viewer[Symbol.asyncDispose]();
    });

    it('continues by itself on another server when the one of the media drains', async () => {
      const { packaging, stream, first, viewer } = await watch();
      packaging.child.kill('SIGTERM');
      await first.exited;
      await using _second = publishTo(other, stream);
      await expectContinued(viewer);
      await viewer[Symbol.asyncDispose]();
    });
  });
});
