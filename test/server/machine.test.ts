import { describe, expect, test } from 'bun:test'
import { judge, missing } from '../../src/server/judge.ts'
import {
  confinementOf,
  firewallOf,
  localEngine,
  refuseOtherEngine,
} from '../../src/server/machine.ts'
import type { Machine } from '../../src/server/machine.ts'
import { distributionIn, packagesFor } from '../../src/server/packages.ts'

/** A server on which nothing is in the way. */
const good: Machine = {
  isRoot: true,
  hasSystemd: true,
  distribution: { name: 'Debian GNU/Linux 12 (bookworm)', packages: 'apt-get', lacks: [] },
  engine: { state: 'running', version: '26.1.5', apiVersion: '1.45' },
  git: '2.39.5',
  hasSsh: true,
  memory: 2 ** 31,
  disk: { folder: '/var/lib', size: 2 ** 36, free: 2 ** 35, used: 50 },
  confinement: null,
  firewall: null,
  listeners: [],
  service: { isActive: false, isEnabled: false, pid: 0 },
}

const blocking = (change: Partial<Machine>) =>
  judge({ ...good, ...change }).flatMap(({ blocks, is, todo }) =>
    blocks ? [`${is}. ${todo}`] : [],
  )

describe('a server', () => {
  test('with nothing in the way passes', () => {
    expect(judge(good).filter(({ todo }) => todo)).toEqual([])
    expect(missing(good)).toEqual([])
  })

  test.each<[string, Partial<Machine>, RegExp]>([
    ['without root', { isRoot: false }, /^you aren’t root\. Run it as root: sudo davit install\.$/],
    [
      'without systemd',
      { hasSystemd: false },
      /^systemd doesn’t run this machine.* Use a server with systemd/,
    ],
    [
      'whose Docker is too old',
      { engine: { state: 'running', version: '19.03.8', apiVersion: '1.40' } },
      /^Docker 19\.03\.8 is too old\. Upgrade it to 20\.10/,
    ],
    [
      'with a full disk',
      { disk: { folder: '/var/lib', size: 2 ** 36, free: 2 ** 28, used: 99 } },
      /^only 256 MiB are free in \/var\/lib\. Free some space/,
    ],
    [
      'whose port 80 is taken',
      { listeners: [{ port: 80, by: { name: 'nginx', pid: 312 } }] },
      /^port 80 is taken by nginx \(process 312\)\. Stop it .* leave out --domain/,
    ],
    [
      'whose port 3000 is taken by whom no one can see',
      { listeners: [{ port: 3000, by: null }] },
      /^port 3000 is taken by another program\. Stop it, or choose another port with --port\.$/,
    ],
    [
      'that can’t install what is missing',
      {
        distribution: { name: 'Arch', packages: null, lacks: [] },
        ...{ engine: { state: 'missing' }, git: null },
      },
      /neither apt-get nor dnf\. Install Docker 20\.10 or newer, git yourself/,
    ],
    [
      'whose distribution has no Docker',
      {
        distribution: { name: 'Rocky Linux 9', packages: 'dnf', lacks: ['engine'] },
        engine: { state: 'missing' },
      },
      /^Rocky Linux 9 has no package of Docker\. Install Docker’s own packages/,
    ],
  ])('%s is refused in one sentence that says what to do', (_, change, words) => {
    expect(blocking(change)).toEqual([expect.stringMatching(words)])
  })

  test('with little memory is only warned about', () => {
    const findings = judge({ ...good, memory: 2 ** 28 })
    expect(findings.filter(({ todo }) => todo)).toMatchObject([{ what: 'memory' }])
    expect(findings.some(({ blocks }) => blocks)).toBe(false)
  })
})

test.each([
  ['ID=debian\nPRETTY_NAME="Debian GNU/Linux 12"\n', 'apt-get', []],
  ['PRETTY_NAME="Ubuntu 24.04"\nID=ubuntu\nID_LIKE=debian\n', 'apt-get', []],
  ["ID=linuxmint\nID_LIKE='ubuntu debian'\n", 'apt-get', []],
  ['ID=fedora\n', 'dnf', []],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf', ['engine']],
  ['ID=arch\n', null, []],
  ['', null, []],
])('%j installs with %p', (release, packages, lacks) => {
  expect(distributionIn(release)).toMatchObject({ packages, lacks } as object)
})

test('packages have the names of their distribution', () => {
  expect(packagesFor('apt-get', ['engine', 'ssh'])).toEqual(['docker.io', 'openssh-client'])
  expect(packagesFor('dnf', ['engine', 'ssh'])).toEqual(['moby-engine', 'openssh-clients'])
})

test('what restricts programs is named', () => {
  expect(confinementOf({ enforce: '1', appArmor: null })).toBe('SELinux (enforcing)')
  expect(confinementOf({ enforce: '0', appArmor: null })).toBe('SELinux (permissive)')
  expect(confinementOf({ enforce: null, appArmor: 'Y\n' })).toBe('AppArmor')
  expect(confinementOf({ enforce: null, appArmor: null })).toBeNull()
})

test('a firewall is found by its settings', () => {
  const files = (path: string) =>
    path === '/etc/ufw/ufw.conf' ? 'ENABLED=yes\nLOGLEVEL=low\n' : null
  expect(firewallOf(files)).toBe('ufw')
})

test('a command that works on this machine refuses settings with another engine', () => {
  const refuse = (dockerHost?: string) =>
    refuseOtherEngine({ dockerHost }, 'davit move', 'Use davit backup.')
  for (const own of [undefined, localEngine.host, 'unix:///run/docker.sock'])
    expect(() => refuse(own)).not.toThrow()
  for (const other of ['ssh://root@far', 'tcp://10.0.0.1:2376', 'unix:///run/user/1/docker.sock'])
    expect(() => refuse(other)).toThrow(`DOCKER_HOST is ${other} here, and davit move works only`)
})
