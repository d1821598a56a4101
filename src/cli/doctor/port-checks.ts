import { randomBytes, randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  datagramSocket,
  HANDSHAKE,
  readHandshake,
  srtMagic,
  writeHandshake,
} from '../../media/srt/handshake.ts';
import { CONTROL, readPacket, writeControl } from '../../media/srt/packet.ts';
import {
  type CheckName,
  checkTitles,
  type Finding,
  failed,
  ok,
  skipped,
} from '../../operations/checks/finding.ts';
import type { Probe } from '../../operations/checks/probe.ts';
import { messageOf, systemCodeOf } from '../../shared/errors.ts';
import { parseStun, STUN_ATTRIBUTE, STUN_TYPE, writeStun } from '../../webrtc/ice/stun-message.ts';

const timeoutMs = 5_000;
const repeatMs = 700;
/** Version 3 of RTMP, and a first chunk of 1,536 bytes. */
const rtmpVersion = 3;
const rtmpChunkBytes = 1_536;
const srtWindowPackets = 8_192;
/** As long as the answer, which is never longer than the request. */
const stunSoftware = Buffer.from('millrace doctor '.repeat(3));

type Ask = (host: string, port: number) => Promise<void>;

const protocols: readonly (readonly [CheckName, keyof Probe['ports'], 'tcp' | 'udp', Ask])[] = [
  ['rtmp', 'rtmp', 'tcp', askRtmp],
  ['rtmps', 'rtmps', 'tcp', (host, port) => askRtmp(host, port, true)],
  ['srt', 'srt', 'udp', askSrt],
  ['webrtc-udp', 'webrtc', 'udp', (host, port) => askUdp(host, port, stunRequest(), isStunAnswer)],
  ['webrtc-tcp', 'webrtc', 'tcp', askStunOverTcp],
];

/** Speaks to each port in its protocol, as an encoder does before it names its key. */
export function checkPorts(host: string, ports: Probe['ports']): Promise<Finding[]> {
  return Promise.all(
    protocols.map(([check, name, transport, ask]) =>
      checkPort(check, { host, port: ports[name], transport, ask }),
    ),
  );
}

interface CheckedPort {
  readonly host: string;
  readonly port: number | null;
  readonly transport: 'tcp' | 'udp';
  readonly ask: Ask;
}

async function checkPort(check: CheckName, { host, port, transport, ask }: CheckedPort): Promise<Finding> {
  const title = checkTitles[check];
  if (port === null) return skipped(check, `The server has no port for ${title}.`);
  try {
    await ask(host, port);
    return ok(check, `Port ${port}/${transport} of ${host} answers.`, { port });
  } catch (error) {
    const isRefused = systemCodeOf(error) === 'ECONNREFUSED';
    const said = isRefused
      ? 'refuses connections'
      : `does not answer (${systemCodeOf(error) ?? messageOf(error)})`;
    return failed(check, `Port ${port}/${transport} of ${host} ${said}.`, {
      why: check.startsWith('webrtc')
        ? 'Browsers cannot publish, nor watch with ultra low latency, where the other of UDP and TCP is blocked too.'
        : `Encoders cannot publish over ${title}.`,
      mend: isRefused
        ? `Start the server, or map the port (Docker: -p ${port}:${port}/${transport}). With another port outside, add --${check.startsWith('webrtc') ? 'webrtc' : check}.port=PORT to this command.`
        : `Open the port in the firewall of the machine (ufw allow ${port}/${transport}), of the provider, and in the router.`,
      facts: { port },
    });
  }
}

/** @throws Error when nothing that speaks RTMP answers */
function askRtmp(host: string, port: number, isSecure = false): Promise<void> {
  const first = Buffer.concat([Buffer.from([rtmpVersion]), Buffer.alloc(8), randomBytes(rtmpChunkBytes - 8)]);
  return askTcp(host, port, first, bytes => bytes[0] === rtmpVersion, isSecure);
}

function askStunOverTcp(host: string, port: number): Promise<void> {
  const request = stunRequest();
  const length = Buffer.alloc(2);
  length.writeUInt16BE(request.length);
  return askTcp(host, port, Buffer.concat([length, request]), bytes =>
    bytes.length < 22 ? undefined : isStunAnswer(bytes.subarray(2)),
  );
}

function askSrt(host: string, port: number): Promise<void> {
  const body = writeHandshake({
    version: 4,
    encryption: 0,
    extensionField: datagramSocket,
    type: HANDSHAKE.induction,
    initialSequence: randomInt(2 ** 31 - 1),
    flowWindow: srtWindowPackets,
    socketId: randomInt(1, 2 ** 30),
    cookie: 0,
    extensions: Buffer.alloc(0),
  });
  const request = writeControl({ type: CONTROL.handshake, timestampUs: 0, destination: 0, body });
  return askUdp(host, port, request, datagram => {
    const packet = readPacket(datagram);
    return packet?.kind === 'control' && readHandshake(packet.body)?.extensionField === srtMagic;
  });
}

function stunRequest(): Buffer {
  return writeStun(STUN_TYPE.request, randomBytes(12), [
    { type: STUN_ATTRIBUTE.software, value: stunSoftware },
  ]);
}

function isStunAnswer(bytes: Buffer): boolean {
  return parseStun(bytes)?.type === STUN_TYPE.success;
}

/** @param isAnswer undefined for too few bytes */
async function askTcp(
  host: string,
  port: number,
  request: Buffer,
  isAnswer: (bytes: Buffer) => boolean | undefined,
  isSecure = false,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket: Socket = isSecure
    ? connectTls({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 ? { servername: host } : {}) })
    : connect({ host, port });
  let bytes = Buffer.alloc(0);
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the connection was closed')));
  const limit = setTimeout(() => reject(new Error('no answer in time')), timeoutMs);
  socket.on('data', chunk => {
    bytes = Buffer.concat([bytes, chunk]);
    const isRight = isAnswer(bytes);
    if (isRight === true) resolve();
    else if (isRight === false) reject(new Error('something else answers'));
  });
  socket.write(request);
  try {
    await promise;
  } finally {
    clearTimeout(limit);
    socket.destroy();
  }
}

async function askUdp(
  host: string,
  port: number,
  request: Buffer,
  isAnswer: (datagram: Buffer) => boolean,
): Promise<void> {
  const { address, family } = await lookup(host);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  socket.on('error', reject);
  socket.on('message', datagram => {
    if (isAnswer(datagram)) resolve();
  });
  // Reports a closed port, where the network tells.
  socket.connect(port, address);
  const send = () => socket.send(request, () => {});
  socket.once('connect', send);
  const repeated = setInterval(send, repeatMs);
  const limit = setTimeout(() => reject(new Error('no answer in time')), timeoutMs);
  try {
    await promise;
  } finally {
    clearInterval(repeated);
    clearTimeout(limit);
    socket.close();
  }
}
