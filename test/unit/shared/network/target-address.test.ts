import { describe, expect, it } from 'vitest';
import {
  type AddressClass,
  classifyAddress,
  pinnedLookup,
  resolveTarget,
} from '../../../../src/shared/network/target-address.ts';

const table: readonly (readonly [address: string, kind: AddressClass])[] = [
  ['8.8.8.8', 'public'],
  ['93.184.216.34', 'public'],
  ['172.15.255.255', 'public'],
  ['172.32.0.0', 'public'],
  ['100.63.255.255', 'public'],
  ['192.167.255.255', 'public'],
  ['2606:2800:220:1:248:1893:25c8:1946', 'public'],
  ['2a00:1450:4001::1', 'public'],
  ['::ffff:8.8.8.8', 'public'],
  ['64:ff9b::808:808', 'public'],
  ['2002:808:808::1', 'public'],
  ['127.0.0.1', 'private'],
  ['127.255.255.254', 'private'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['198.18.0.1', 'private'],
  ['192.0.2.1', 'private'],
  ['203.0.113.9', 'private'],
  ['::1', 'private'],
  ['0:0:0:0:0:0:0:1', 'private'],
  ['fc00::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['fec0::1', 'private'],
  ['2001:db8::1', 'private'],
  ['2001::1', 'private'],
  ['100::1', 'private'],
  ['64:ff9b:1::1', 'private'],
  ['::ffff:127.0.0.1', 'private'],
  ['::ffff:7f00:1', 'private'],
  ['::ffff:0:10.0.0.1', 'private'],
  ['::10.0.0.1', 'private'],
  ['64:ff9b::a00:1', 'private'],
  ['2002:7f00:1::', 'private'],
  ['169.254.169.254', 'never'],
  ['169.254.0.1', 'never'],
  ['::ffff:169.254.169.254', 'never'],
  ['64:ff9b::a9fe:a9fe', 'never'],
  ['2002:a9fe:a9fe::', 'never'],
  ['fe80::1', 'never'],
  ['febf::1', 'never'],
  ['fe80::1%eth0', 'never'],
  ['fd00:ec2::254', 'never'],
  ['100.100.100.200', 'never'],
  ['168.63.129.16', 'never'],
  ['168.63.129.17', 'public'],
  ['0.0.0.0', 'never'],
  ['0.1.2.3', 'never'],
  ['::', 'never'],
  ['224.0.0.1', 'never'],
  ['239.255.255.250', 'never'],
  ['255.255.255.255', 'never'],
  ['240.0.0.1', 'never'],
  ['ff02::1', 'never'],
  ['::ffff:224.0.0.1', 'never'],
  ['example.org', 'never'],
  ['', 'never'],
];

describe('an address', () => {
  it.each(table)('%s is %s', (address, kind) => {
    expect(classifyAddress(address)).toBe(kind);
  });
});

describe('a target', () => {
  const resolve = async () => [
    { address: '10.0.0.1', family: 4 },
    { address: '8.8.8.8', family: 4 },
    { address: '169.254.169.254', family: 4 },
  ];

  it('keeps the addresses that are allowed', async () => {
    expect(await resolveTarget('example.org', { allowPrivate: false, resolve })).toEqual({
      accepted: true,
      addresses: [{ address: '8.8.8.8', family: 4 }],
    });
    expect(await resolveTarget('example.org', { allowPrivate: true, resolve })).toMatchObject({
      addresses: [{ address: '10.0.0.1' }, { address: '8.8.8.8' }],
    });
  });

  it('is refused where no address is allowed', async () => {
    expect(await resolveTarget('127.0.0.1', { allowPrivate: false, resolve })).toMatchObject({
      accepted: false,
    });
    expect(await resolveTarget('[::1]', { allowPrivate: false, resolve })).toMatchObject({ accepted: false });
    expect(await resolveTarget('169.254.169.254', { allowPrivate: true, resolve })).toMatchObject({
      accepted: false,
    });
    expect(await resolveTarget('[::1]', { allowPrivate: true, resolve })).toEqual({
      accepted: true,
      addresses: [{ address: '::1', family: 6 }],
    });
  });

  it('is refused for the same reason when the host is unknown as when its address is private', async () => {
    const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
    const inside = async () => [{ address: '10.0.0.1', family: 4 }];
    const reasons = [failing('ENOTFOUND'), failing('ENODATA'), inside].map(async ask => {
      const target = await resolveTarget('db.example.org', { allowPrivate: false, resolve: ask });
      return target.accepted ? undefined : target.reason;
    });
    const [unknown, ...others] = await Promise.all(reasons);
    expect(unknown).toBe(
      'db.example.org is not reachable on the public network. For private addresses, the operator of this server must set MILLRACE_ALLOW_PRIVATE_TARGETS=true.',
    );
    expect(others).toEqual([unknown, unknown]);
    const silent = resolveTarget('db.example.org', { allowPrivate: false, resolve: failing('ETIMEOUT') });
    await expect(silent).rejects.toThrow('ETIMEOUT');
  });

  it('is connected to at these addresses alone', () => {
    const lookup = pinnedLookup([
      { address: '8.8.8.8', family: 4 },
      { address: '2a00::1', family: 6 },
    ]);
    const answers: unknown[] = [];
    lookup('ignored', { all: true }, (...answer) => answers.push(answer));
    lookup('ignored', {}, (...answer) => answers.push(answer));
    lookup('ignored', { family: 6 }, (...answer) => answers.push(answer));
    expect(answers).toEqual([
      [
        null,
        [
          { address: '8.8.8.8', family: 4 },
          { address: '2a00::1', family: 6 },
        ],
      ],
      [null, '8.8.8.8', 4],
      [null, '2a00::1', 6],
    ]);
  });
});
