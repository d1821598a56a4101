import { createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { playerAlone } from '../support/player-page.ts';
import { signToken } from '../support/sign-token.ts';
import { startServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';

describeInBrowser('the page of a signed token', browser => {
  test('says why when the token is refused', async () => {
    await using server = await startServer();
    const made = async (path: string, body: object) =>
      (await (await server.api('POST', path, body)).json()) as Record<string, string>;
    const key = await made('/account/signing-keys', { name: 'Website' });
    const { videoId = '' } = await made('/videos', { title: 'Pier', public: false });
    const { liveStreamId = '' } = await made('/live-streams', { name: 'Pier', public: false });
    const sign = (sub: string) =>
      signToken(
        { id: key.signingKeyId!, algorithm: 'ES256', privateKey: createPrivateKey(key.privateKey!) },
        { sub, exp: Math.floor(Date.now() / 1000) + 3600, viewer: 'customer-7' },
      );
    const context = await browser().newContext();
    const [video, live] = [await context.newPage(), await context.newPage()];
    await video.goto(playerAlone(`${server.baseUrl}/vod/${videoId}?token=${await sign(videoId)}`));
    await video.getByText('This video is being processed').waitFor();
    await live.goto(playerAlone(`${server.baseUrl}/live/${liveStreamId}?token=${await sign(liveStreamId)}`));
    await live.getByText('Waiting for the stream').waitFor();

    await until('both players in the analytics of the viewer', async () => {
      const query = 'filterBy[viewerId][]=customer-7';
      const answer = await server.api('GET', `/data/buckets/impression/media-id?${query}`);
      const { data } = (await answer.json()) as { data: { dimensionValue: string }[] };
      const seen = data.map(({ dimensionValue }) => dimensionValue);
      return seen.includes(videoId) && seen.includes(liveStreamId);
    });

    await server.api('DELETE', `/account/signing-keys/${key.signingKeyId}`);
    for (const [page, what] of [[video, 'video'] as const, [live, 'stream'] as const]) {
      await page.getByText(`This ${what} can’t be played`).waitFor();
      await page.getByText('it was revoked').waitFor();
    }
    const reloaded = await live.reload();
    expect(reloaded?.status()).toBe(403);
    await live.getByText('it was revoked').waitFor();
    await context.close();
  });
});
