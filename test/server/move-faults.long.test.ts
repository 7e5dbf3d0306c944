import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../support/until.ts'
import { layout, startMoves } from './moves.ts'
import type { Moves } from './moves.ts'

setDefaultTimeout(300_000)

let two: Moves
beforeAll(async () => void (two = await startMoves()), 900_000)
afterAll(() => two?.leave())

const cutAfter = (bytes: number) => two.sshThat(`exit if $n > ${bytes}`, { to: 'sftp' })

test('a connection that is cut while an image is sent stops nothing, and both servers are as before', async () => {
  const path = await two.sshThat('exit if $n > 1e6', { to: 'receive --take=image' })
  const { exitCode, output } = await two.move(['--cut-over'], { path })
  expect(exitCode).toBe(1)
  expect(output).toContain('Sending images')
  expect(output).not.toContain('Stopping')
  await two.expectAsBefore()
  await two.expectEmpty()
})

test('a new server that maps users is refused: owners of files would differ', async () => {
  const { next } = two
  const remapped = '/etc/docker/daemon.json'
  const before = await next.run(['cat', remapped])
  await next.must(['cp', '-a', '/etc/docker', '/root/docker'])
  await Bun.write(`${next.shared}/daemon.json`, '{"userns-remap": "default"}')
  await next.must(['cp', `${next.sharedInside}/daemon.json`, remapped])
  await next.must(['systemctl', 'restart', 'docker'])
  const { exitCode, output } = await two.move()
  expect(exitCode).toBe(1)
  expect(output).toContain('map users in different ways')
  await next.must(['rm', remapped])
  if (before.exitCode === 0) await next.must(['cp', '/root/docker/daemon.json', remapped])
  await next.must(['systemctl', 'restart', 'docker'])
  await two.expectEmpty()
  await two.expectAsBefore()
})

test.each([['for what is sent', layout.moves, '600m', `dd if=/dev/zero of=${layout.moves}/full`]])(
  'a new server whose disk %s becomes full says so, and both servers are as before',
  async (_, folder, size, fills) => {
    const { next } = two
    await next.must(['mkdir', '-p', folder])
    await next.must(['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
    const path = await two.sshThatRuns(fills, '$b =~ /"volumes":\\[/')
    const { exitCode, output } = await two.move(['--cut-over'], { path })
    expect(output).toMatch(/A disk of \S+ is full/)
    expect(exitCode).toBe(1)
    await two.expectAsBefore()
    await next.run(['rm', '-f', `${layout.moves}/full`])
    await two.expectEmpty()
    await next.must(['umount', '-l', folder])
    await next.must(['systemctl', 'restart', 'docker'])
    await until(two.nextServer.isReady, 60)
  },
)

test('a new server whose disk is too small for what is sent is refused', async () => {
  const { next } = two
  await next.must(['mkdir', '-p', layout.moves])
  await next.must(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', layout.moves])
  const { exitCode, output } = await two.move()
  expect(output).toContain(`${layout.moves} of ${next.address} has only`)
  expect(exitCode).toBe(1)
  await next.must(['umount', layout.moves])
  await two.expectEmpty()
  await two.expectAsBefore()
})

test('a connection that is cut at 90 % of a volume stops nothing, and the next try is whole', async () => {
  const [app] = (await two.idsOf(two.old, 'label=davit.kind=app')).split('\n')
  const size = 160e6 // of which some packs of 16 MiB have arrived whole
  const writes = `head -c ${size} /dev/urandom > /data/large`
  await two.old.must(['docker', 'exec', app!, 'sh', '-c', writes])
  const cut = await two.move([], { path: await cutAfter(0.9 * size) })
  expect(cut.output).toMatch(/The connection to \S+ broke|can’t be reached/)
  expect(cut.output).not.toContain('Stopping')
  await two.expectAsBefore()
  await two.expectEmpty()
  const { exitCode, output } = await two.move()
  expect(exitCode).toBe(0)
  const [, sent] = /harbour\/production, \S+: 153 MiB, ([\d.]+) MiB of it sent/.exec(output) ?? []
  expect(Number(sent)).toBeLessThan(120)
})
