import { expect, test } from 'vitest';
import { HostResolver, parseHosts } from '../../../../src/shared/network/host-resolver.ts';

test('a hosts file names addresses, several for a name and several names for one', () => {
  const hosts = parseHosts(
    '# local\n127.0.0.1\tlocalhost box # this one\n::1 localhost\n10.0.0.7  Api.Example\nnonsense api.example\n\n192.0.2.1\n',
  );
  expect([...hosts]).toEqual([
    [
      'localhost',
      [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ],
    ],
    ['box', [{ address: '127.0.0.1', family: 4 }]],
    ['api.example', [{ address: '10.0.0.7', family: 4 }]],
  ]);
});

test('names of this machine are known without a file and without a name server', async () => {
  const resolver = new HostResolver({ hostsPath: '/no/such/file' });
  for (const name of ['localhost', 'LOCALHOST.', 'a.localhost']) {
    expect((await resolver.resolve(name)).map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
  }
});
