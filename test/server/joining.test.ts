import { expect, onTestFinished, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { firewallRemoval, firewallScript } from '../../src/server/joining/firewall.ts'
import { judgeTogether } from '../../src/server/joining/judge.ts'
import { leaveSteps } from '../../src/server/joining/parts.ts'
import { judgePorts, openPorts } from '../../src/server/joining/ports.ts'
import { probe } from '../../src/server/joining/probe.ts'
import { readRecord, writeRecord } from '../../src/server/joining/record.ts'
import { layoutIn } from '../../src/server/layout.ts'
import { reach } from '../../src/servers/reach.ts'
import { aHost } from '../faults/private-host.ts'

function aRoot() {
  const root = mkdtempSync(join(tmpdir(), 'davit-joining-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return layoutIn(root)
}

const place = { address: '10.0.0.2', cluster: '10.0.0.1', from: '10.0.0.1', sshPort: 22 }

/** The firewall of a machine that is its own, whose Docker knows these members. */
async function aFirewall() {
  const layout = aRoot()
  const host = await aHost()
  onTestFinished(() => host[Symbol.asyncDispose]())
  for (const file of [layout.firewall, layout.members])
    mkdirSync(dirname(file), { recursive: true })
  writeFileSync(layout.firewall, firewallScript(layout, place))
  const programs = join(layout.root, 'bin')
  mkdirSync(programs)
  const know = (members: string[] | null) => {
    const text = members
      ? `#!/bin/sh\nprintf '%s\\n' ${members.join(' ')}\n`
      : '#!/bin/sh\nexit 1\n'
    writeFileSync(join(programs, 'docker'), text, { mode: 0o755 })
  }
  const run = (...argv: string[]) => {
    const PATH = `${programs}:${host.env.PATH}`
    const { stdout, exitCode } = Bun.spawnSync([...host.inside, ...argv], {
      env: { ...host.env, PATH },
    })
    return { exitCode, text: stdout.toString() }
  }
  const call = (verb: string) => run('sh', layout.firewall, verb)
  const chain = (name: string) => run('iptables', '-S', name).text.trim().split('\n').slice(1)
  return { know, run, call, chain }
}

const membersIn = (rules: string[]) =>
  rules.flatMap((rule) => /^-A DAVIT-MEMBERS -s (\S+)\/32 -j RETURN$/.exec(rule)?.[1] ?? [])

test('the firewall lets the members in that Docker knows, and the last known ones while it is away', async () => {
  const { know, call, chain } = await aFirewall()
  know(null)
  call('apply')
  expect(membersIn(chain('DAVIT-MEMBERS'))).toEqual(['10.0.0.1'])
  expect(chain('DAVIT-MEMBERS').at(-1)).toBe('-A DAVIT-MEMBERS -j DROP')
  know(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
  call('apply')
  expect(membersIn(chain('DAVIT-MEMBERS'))).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
  know(null)
  call('apply')
  expect(membersIn(chain('DAVIT-MEMBERS'))).toContain('10.0.0.3')
  know(['10.0.0.1', '10.0.0.2'])
  call('apply')
  expect(membersIn(chain('DAVIT-MEMBERS'))).toEqual(['10.0.0.1', '10.0.0.2'])
})

test('the firewall is there once however often it is applied, beside rules of others, and gone after it', async () => {
  const { know, run, call, chain } = await aFirewall()
  know(['10.0.0.1'])
  run('iptables', '-N', 'DOCKER-USER')
  run('iptables', '-A', 'DOCKER-USER', '-s', '192.0.2.1', '-j', 'DROP')
  call('apply')
  call('apply')
  expect(chain('DOCKER-USER')).toEqual([
    '-A DOCKER-USER -j DAVIT-FORWARD',
    '-A DOCKER-USER -s 192.0.2.1/32 -j DROP',
  ])
  expect(run('iptables', '-S', 'INPUT').text.match(/DAVIT-INPUT/g)).toHaveLength(1)
  expect(chain('FORWARD')).toEqual(['-A FORWARD -j DAVIT-FORWARD'])
  expect(chain('DAVIT-FORWARD')).toEqual([
    expect.stringMatching(
      /--ctorigdst 10\.0\.0\.2 --ctorigdstport 20000:29999 .*-g DAVIT-MEMBERS$/,
    ),
  ])
  run('iptables', '-F', 'DOCKER-USER')
  call('apply')
  expect(chain('DOCKER-USER')).toEqual(['-A DOCKER-USER -j DAVIT-FORWARD'])
  for (const rule of firewallRemoval) run('iptables', ...rule)
  expect(run('iptables-save').text).not.toContain('DAVIT')
})

test('a bridge of the network is no bridge of Docker', async () => {
  const { know, run, call, chain } = await aFirewall()
  know(['10.0.0.1'])
  const drops = () => chain('DAVIT-MEMBERS').filter((rule) => / -i \S+ -j DROP$/.test(rule))
  run('ip', 'link', 'add', 'br-0123456789ab', 'type', 'bridge')
  call('apply')
  expect(drops()).toEqual([])
  run('ip', 'link', 'add', 'br-lan', 'type', 'bridge')
  call('apply')
  expect(drops()).toEqual(['-A DAVIT-MEMBERS -i br-lan -j DROP'])
  const rules = chain('DAVIT-MEMBERS')
  expect(rules.indexOf(drops()[0]!)).toBeLessThan(rules.findIndex((rule) => rule.includes('br-+')))
})

test('connections that are open stay open', async () => {
  const { know, call, chain } = await aFirewall()
  know(['10.0.0.1'])
  call('apply')
  const rules = chain('DAVIT-INPUT')
  const open = rules.findIndex((rule) => /ESTABLISHED.* -j RETURN$/.test(rule))
  expect(open).toBeGreaterThan(-1)
  expect(open).toBeLessThan(rules.findIndex((rule) => rule.includes('20000:29999')))
})

test('ssh at a port of apps blocks; another program there is found', async () => {
  const server = Bun.listen({ hostname: address, port: 20_777, socket: { data() {} } })
  onTestFinished(() => server.stop(true))
  const open = await openPorts(address)
  expect(open).toContain(20_777)
  expect(await openPorts('127.0.0.78')).not.toContain(20_777)
  const judged = (sshPorts: number[]) =>
    judgePorts({ sshPorts, open: [20_777] }).map(({ what, blocks }) => [what, blocks ?? false])
  expect(judged([22])).toEqual([['ports', false]])
  expect(judged([22, 22_222])).toEqual([
    ['ssh', true],
    ['ports', false],
  ])
})

const address = '127.0.0.77'

const stranger = { isKnown: false }

async function anSshd() {
  const server = createServer((socket) => void socket.end('SSH-2.0-test\r\n'))
  await new Promise<void>((resolve) => void server.listen(0, address, resolve))
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

test('a probe finds open ports open, and names those at which nothing arrives', async () => {
  const sshPort = await anSshd()
  const tried = (ask: Parameters<typeof probe>[1]) => probe({ address, sshPort }, ask)
  expect(await tried((open) => reach(open, stranger))).toEqual({
    ...{ taken: [], silent: [] },
  })
  const behind = await tried((open) => reach({ ...open, word: 'other' }, stranger))
  expect(behind.silent).toEqual(['7946 (UDP)', '4789 (UDP)'])
  const closed = await tried(async () => ({ reached: { ssh: false, gossip: false } }))
  expect(closed.silent).toEqual([`${sshPort} (ssh)`, '7946 (TCP)', '7946 (UDP)', '4789 (UDP)'])
})

test('ssh is tried only at a known address, or where something says the word', async () => {
  const sshPort = await anSshd()
  const word = 'a'.repeat(32)
  const look = async (isKnown: boolean) =>
    (await reach({ address, sshPort, word }, { isKnown })).reached
  expect(await look(false)).toEqual({ ssh: null, gossip: false })
  expect(await look(true)).toEqual({ ssh: true, gossip: false })
  let says = 'b'.repeat(32)
  const there = createServer((socket) => void socket.end(says))
  await new Promise<void>((resolve) => void there.listen(7946, address, resolve))
  onTestFinished(() => void there.close())
  expect(await look(false)).toEqual({ ssh: null, gossip: true })
  says = word
  expect(await look(false)).toEqual({ ssh: true, gossip: true })
})

test('a probe says which port another program has', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => void taken.listen(7946, address, resolve))
  onTestFinished(() => void taken.close())
  const sshPort = await anSshd()
  const found = await probe({ address, sshPort }, (open) => reach(open, stranger))
  expect(found).toEqual({ taken: ['7946 (TCP)'], silent: [] })
})

const record = {
  ...{ davit: 'https://davit.example.com', name: 'two', address: '10.0.0.2' },
  ...{ files: [], ports: [], hasMadeUser: true, hasCopiedExecutable: true },
}

test('a damaged record is a failure, and none means that nothing was done', () => {
  const layout = aRoot()
  expect(readRecord(layout)).toBeNull()
  writeRecord(layout, record)
  expect(readRecord(layout)).toEqual(record)
  writeFileSync(layout.joined, '{')
  expect(() => readRecord(layout)).toThrow('can’t be read')
})

test('leaving keeps what was there before, and the record until all else is undone', () => {
  const layout = aRoot()
  const titles = (of: Partial<typeof record>) =>
    leaveSteps(layout, { ...record, ...of }).map(({ does }) => does)
  expect(titles({}).at(-1)).toContain(layout.joined)
  expect(titles({})).toContain('Remove the user davit')
  const kept = titles({ hasMadeUser: false, hasCopiedExecutable: false })
  expect(kept).not.toContain('Remove the user davit')
  expect(kept.join()).not.toContain(layout.executable)
})

test('leaving removes the key, and no data that an earlier Davit left', async () => {
  const layout = aRoot()
  mkdirSync(dirname(layout.keys), { recursive: true })
  writeFileSync(layout.keys, 'key')
  mkdirSync(layout.data)
  const work = { say: () => {}, signal: new AbortController().signal }
  const step = leaveSteps(layout, record).find(({ does }) => does.includes(layout.keys))!
  await step.act(work)
  expect([existsSync(layout.keys), existsSync(layout.data)]).toEqual([false, true])
  rmSync(layout.data, { recursive: true })
  await step.act(work)
  expect(existsSync(layout.home)).toBe(false)
})

const check = {
  ...{ name: 'two', address: null, hasJoined: false, cluster: '10.0.0.1', from: '10.0.0.1' },
  ...{ mtu: 1500, arch: 'amd64', publicKey: 'ssh-ed25519 AAAA' },
  reached: { ssh: true, gossip: true },
}
const engine = { info: { arch: 'amd64' }, state: { isMember: false, managers: [] as string[] } }
const memberOf = (...managers: string[]) => ({ ...engine, state: { isMember: true, managers } })
const route = { address: '10.0.0.2', device: 'eth1', mtu: 1500 }
const together = { engine, route, hasBegun: false, silent: [] }

test.each<[string, string | null, Record<string, object | null>]>([
  ['two servers that agree', null, {}],
  ['a small MTU, which only makes it slower', null, { route: { ...route, mtu: 1450 } }],
  ['a clock 10 minutes apart', 'server', { check: { time: new Date(0).toISOString() } }],
  ['another architecture', 'server', { check: { arch: 'arm64' } }],
  ['a swarm of its own', 'swarm', { engine: memberOf('10.0.0.2') }],
  ['a swarm that was Davit’s', null, { engine: memberOf('10.0.0.1') }],
  ['a swarm whose managers it doesn’t know', 'swarm', { engine: memberOf() }],
  ['a swarm that is not Davit’s alone', 'swarm', { engine: memberOf('10.0.0.1', '10.0.0.7') }],
  ['another address than chosen', 'address', { check: { address: '10.0.0.9' } }],
  ['no way to Davit’s server', 'address', { route: null }],
  ['ports that swallow everything', 'ports', { silent: [2377] }],
])('%s: a finding blocks, or none', (_, what, difference) => {
  const said = { ...check, time: new Date().toISOString(), ...difference.check }
  const how = { ...together, ...difference, check: said } as unknown as Parameters<
    typeof judgeTogether
  >[0]
  const blocking = judgeTogether(how).filter(({ blocks }) => blocks)
  expect(blocking.map((finding) => finding.what)).toEqual(what ? [what] : [])
})

test('encrypted networks of members are let in, and of no one else', async () => {
  const { know, call, chain } = await aFirewall()
  know(['10.0.0.1'])
  call('apply')
  expect(chain('DAVIT-INPUT').filter((rule) => rule.includes('-p esp'))).toEqual([
    '-A DAVIT-INPUT -s 10.0.0.1/32 -d 10.0.0.2/32 -p esp -j ACCEPT',
  ])
})
