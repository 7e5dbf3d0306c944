import { expect } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { layoutIn } from '../../src/server/layout.ts'
import { until } from '../support/until.ts'
import { startTwoServers } from './two-servers.ts'
import type { TwoServers } from './two-servers.ts'
import { buildVersions } from './versions.ts'

export const layout = layoutIn()

export type Moves = Awaited<ReturnType<typeof startMoves>>

/** Two servers, and what tests of moves between them do and expect. */
export async function startMoves() {
  const executables = await mkdtemp(join(tmpdir(), 'davit-executables-'))
  await buildVersions(executables, ['0.1.0', '0.2.0'])
  const two = await startTwoServers(executables)
  const { old, next, oldServer, nextServer } = two
  const idsOf = ({ must }: TwoServers['old'], filter = 'status=running') =>
    must(['docker', 'ps', '--no-trunc', '--quiet', '--filter', filter])

  const move = (options: string[] = [], { path = '' } = {}) =>
    old.run(['davit', 'move', `root@${next.address}`, '--yes', ...options], {
      env: { PATH: `${path}/usr/local/bin:/usr/bin:/bin` },
    })

  /** What a move leaves behind while it isn't over. */
  const leftOn = async ({ run }: TwoServers['old']) =>
    (
      await run([
        ...['find', layout.moves, `${layout.unit}.d`],
        ...['-type', 'f', '-not', '-path', '*/repository*'],
      ])
    ).output
      .split('\n')
      .filter((line) => line.startsWith('/'))

  /** The old server runs what it ran, in the same containers. */
  async function expectAsBefore() {
    await until(oldServer.isReady, 60)
    const sorted = (ids: string) => ids.split('\n').toSorted()
    // a restic that was killed with the move is removed a moment after the start
    await until(async () => !(await idsOf(old, 'label=davit.kind=backup')), 60)
    expect(sorted(await idsOf(old))).toEqual(sorted(containers))
    expect(await leftOn(old)).toEqual([])
    expect(await two.row(old)).toBe('ahoy')
  }

  /** The new server is as after its installation, but for what another try needn't send again. */
  async function expectEmpty() {
    await until(nextServer.isReady, 60)
    expect(await next.must(['docker', 'ps', '--all', '--quiet'])).toBe('')
    expect(await next.must(['docker', 'volume', 'ls', '--quiet'])).toBe('')
    expect(
      await next.must(['docker', 'network', 'ls', '--quiet', '--filter', 'label=davit.kind']),
    ).toBe('')
    expect(await leftOn(next)).toEqual([])
    expect(await next.must(['cat', layout.settings])).not.toContain('DAVIT_LOG_DAYS')
  }

  /**
   * An ssh that does something to each piece of what is sent, `$b`, of which `$n` bytes came before. Volumes go by
   * connections to sftp.
   */
  async function sshThat(
    does: string,
    { to }: { to: 'sftp' | 'receive' | 'receive --take=image' },
  ) {
    const filter = `while (sysread(STDIN, $b, 65536)) { ${does}; syswrite(STDOUT, $b); $n += length $b }`
    await Bun.write(
      join(old.shared, 'ssh'),
      `#!/bin/sh
  case "$*" in
  *" ${to}") UP=$PPID perl -e '${filter}' | /usr/bin/ssh "$@" ;;
  *) exec /usr/bin/ssh "$@" ;;
  esac
  `,
    )
    await old.must(['install', '-D', '-m', '755', `${old.sharedInside}/ssh`, '/root/bin/ssh'])
    return '/root/bin:'
  }

  /** An ssh that runs a command on the new server, once, before it sends what follows a moment. */
  async function sshThatRuns(command: string, moment: string) {
    await Bun.write(
      join(next.shared, 'kill-receive'),
      `#!/bin/sh
  for one in /proc/[0-9]*; do
    tr '\\0' ' ' < $one/cmdline | grep -q '^/usr/local/bin/davit receive' && kill -9 \${one#/proc/} && echo killed
  done
  `,
    )
    await Bun.write(
      join(next.shared, 'kill-once-running'),
      `#!/bin/sh
  until [ $(docker ps --quiet | wc -l) -ge 2 ]; do sleep 0.1; done
  /root/kill-receive > /root/killed
  `,
    )
    for (const name of ['kill-receive', 'kill-once-running'])
      await next.must(['install', '-m', '755', `${next.sharedInside}/${name}`, '/root/'])
    const ssh = `system "/usr/bin/ssh", "-n", "root\\@${next.address}", "${command}"`
    return sshThat(`if (!$k && (${moment})) { $k = 1; ${ssh} }`, { to: 'receive' })
  }

  const containers = await idsOf(old)
  return {
    ...two,
    ...{ containers, idsOf, move, expectAsBefore, expectEmpty, sshThat, sshThatRuns },
    async leave() {
      await two.leave()
      await rm(executables, { recursive: true, force: true })
    },
  }
}
