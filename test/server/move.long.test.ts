import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { layout, startMoves } from './moves.ts'
import type { Moves } from './moves.ts'

setDefaultTimeout(300_000)

let two: Moves
beforeAll(async () => void (two = await startMoves()), 900_000)
afterAll(() => two?.leave())

/** In Perl: true once nothing of it runs here any more, or its volumes are sent the last time. */
const isLast = `-e "${layout.moves}/sent.json"`

test('what keeps a move from beginning is one sentence, and changes nothing', async () => {
  const { old, next, nextServer } = two
  const said = async (...options: string[]) => {
    const { exitCode, output } = await two.move(options)
    expect(exitCode).not.toBe(0)
    return output
  }
  const known = '/root/.ssh/known_hosts'
  await old.must(['cp', known, '/root/known'])
  await old.must(['rm', known])
  expect(await said()).toContain(`This server doesn’t know the host key of root@${next.address}`)
  await old.must(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', '/root/other'])
  const other = (await old.must(['cat', '/root/other.pub'])).split(' ').slice(0, 2).join(' ')
  await Bun.write(join(old.shared, 'hosts'), `${next.address} ${other}\n`)
  await old.must(['cp', `${old.sharedInside}/hosts`, known])
  expect(await said()).toContain('isn’t the one that this server knows')
  await old.must(['cp', '/root/known', known])

  expect(await said('--identity', '/root/other')).not.toContain('Preparing')
  expect(await said('--port', '9')).toContain('Connection refused')
  expect(await said('--volumes', 'sails')).toContain('There is no volume of “sails” here')
  expect((await old.run(['davit', 'move', '--undo', '--yes'])).output).toContain('wasn’t moved')
  const asDavit = ['runuser', '-u', 'davit', '--', 'davit', 'move', 'root@here']
  expect((await old.run(asDavit)).output).toContain('Only root can move Davit.')

  await next.must(['mv', layout.executable, '/root/davit'])
  expect(await said()).toContain('Davit isn’t installed on')
  await next.must(['install', '-m', '755', nextServer.file('0.2.0'), layout.executable])
  expect(await said()).toContain('has version 0.2.0, this server 0.1.0')
  await next.must(['mv', '/root/davit', layout.executable])

  await old.must(['truncate', '--size=9T', await hugeFile()])
  expect(await said()).toMatch(/has only \S+ GiB free, and \d+\.\d+ TiB are needed/)
  await old.must(['rm', await hugeFile()])

  await two.register(next)
  expect(await said()).toContain('isn’t empty: it has the user ada@example.com')
  await next.must(['systemctl', 'stop', 'davit'])
  await next.must(['rm', '-r', layout.data])
  await next.must(['systemctl', 'start', 'davit'])

  await two.expectEmpty()
  await two.expectAsBefore()
})

async function hugeFile() {
  const filter = ['--filter', 'label=davit.kind=app', '--format', '{{.Mountpoint}}']
  return `${await two.old.must(['docker', 'volume', 'ls', ...filter])}/huge`
}

test('what changes on its way is found, and both servers are as before', async () => {
  const flips = 'if ($n > 1e6 && length($b) > 30000 && !$k) { $k = 1; substr($b, 30000, 1) ^= "x" }'
  const { exitCode, output } = await two.move([], {
    path: await two.sshThat(flips, { to: 'sftp' }),
  })
  expect(output).toContain('has damaged data')
  expect(exitCode).toBe(1)
  await two.expectAsBefore()
  await two.expectEmpty()
})

test('a connection that breaks in a volume leaves both servers as before', async () => {
  const { output } = await two.move([], {
    path: await two.sshThat(`exit if ${isLast}`, { to: 'sftp' }),
  })
  expect(output).toMatch(/Stopping (harbour\/production|logbook) while it is copied/)
  expect(output).toMatch(/The connection to \S+ broke|can’t be reached/)
  await two.expectAsBefore()
  await two.expectEmpty()
})

test('kill -9 in the midst of a move for good leaves both servers as before', async () => {
  const stalls = `if (${isLast}) { select undef, undef, undef, 0.1 while kill 0, $ENV{UP}; exit }`
  const path = await two.sshThat(stalls, { to: 'sftp' })
  const moving = two.move(['--cut-over'], { path })
  const journal = `${layout.moves}/sent.json`
  await until(
    async () => (await two.old.run(['grep', '--quiet', 'logbook', journal])).exitCode === 0,
    120,
  )
  await until(async () => (await two.idsOf(two.old)) === '', 60)
  const ofMove = 'open F, $_; <F> =~ /^davit\\0move\\0root/ and m{(\\d+)} and kill 9, $1'
  await two.old.must(['perl', '-e', `for (glob "/proc/[0-9]*/cmdline") { ${ofMove} }`])
  await moving
  await two.expectAsBefore()
  await two.expectEmpty()
})

test.each([
  ['while it restores ahead', '/root/kill-receive > /root/killed', '$b =~ /"ask":"fill"/'],
  ['before it restores the data', '/root/kill-receive > /root/killed', '$b =~ /"passphrase":"/'],
  [
    'when everything runs there',
    'rm -f /root/killed; setsid /root/kill-once-running > /dev/null 2>&1 &',
    '$b =~ /"ask":"start"/',
  ],
])('kill -9 of the new server’s side %s leaves both servers as before', async (_, kill, moment) => {
  const path = await two.sshThatRuns(kill, moment)
  const { output } = await two.move(['--cut-over'], { path })
  expect(await two.next.must(['cat', '/root/killed'])).toContain('killed')
  await two.expectEmpty()
  if (moment !== '$b =~ /"ask":"fill"/')
    expect(output).toContain('Davit and everything else run here as before')
  await two.expectAsBefore()
})

test('when the new server can’t say whether it took over, nothing starts until it can', async () => {
  const path = await two.sshThatRuns(
    'systemctl stop ssh; /root/kill-receive',
    '$b =~ /"ask":"keep"/',
  )
  const { exitCode, output } = await two.move(['--cut-over'], { path })
  expect(output).toContain('it isn’t known whether it did')
  expect(exitCode).toBe(1)
  const undo = () => two.old.run(['davit', 'move', '--undo', '--yes'])
  expect((await undo()).output).toContain('couldn’t be stopped, so nothing was started here')
  expect(await two.idsOf(two.old)).toBe('')
  await two.next.must(['systemctl', 'start', 'ssh'])
  expect((await undo()).exitCode).toBe(0)
  await two.expectEmpty()
  await two.expectAsBefore()
}, 600_000)

test('a rehearsal copies everything, and the old server runs on', async () => {
  const { exitCode, output } = await two.move()
  expect(output).toContain('same       harbour/production: status 200')
  expect(output).toMatch(/logbook, \S+-data: \S+ MiB, \S+ \S+ of it sent, in \S+ s/)
  expect(exitCode).toBe(0)
  await two.expectAsBefore()
  expect(await two.row(two.next)).toBe('ahoy')
  expect(await two.note(two.next)).toBe('arrived-by-ship\n1234:99:2')
  expect(await two.next.must(['cat', layout.settings])).toContain('DAVIT_LOG_DAYS=9')
  const davit = await two.logIn(two.next)
  expect(await davit.get('/projects')).toMatchObject({ items: [{ name: 'harbour' }] })
})

test('a move for good brings what was written since, and stops the old server', async () => {
  await two.write(two.old, 'land')
  await two.write(two.next, 'lost')
  const { exitCode, output } = await two.move(['--cut-over'])
  expect(output).toContain('has a copy from an earlier move')
  expect(output).toContain('is the server now')
  expect(exitCode).toBe(0)
  expect(await two.row(two.next)).toBe('ahoy\nland')
  expect(await two.note(two.next)).toBe('arrived-by-ship\n1234:99:2')
  expect(await two.idsOf(two.old)).toBe('')
  expect((await two.old.run(['systemctl', 'is-enabled', 'davit'])).output).toBe('disabled')
  expect((await two.old.run(['systemctl', 'start', 'davit'])).exitCode).not.toBe(0)
  const upgrade = await two.old.run(['davit', 'upgrade', two.oldServer.file('0.2.0')])
  for (const { output } of [await two.move(), upgrade])
    expect(output).toContain('This server was moved to')
  await two.old.must(['systemctl', 'stop', 'davit'])
})

test('a move isn’t undone while the new server may run: it can’t be asked', async () => {
  await two.next.must(['systemctl', 'stop', 'ssh'])
  const { exitCode } = await two.old.run(['davit', 'move', '--undo', '--yes'])
  expect(exitCode).toBe(1)
  expect(await two.idsOf(two.old)).toBe('')
  expect((await two.old.run(['systemctl', 'is-enabled', 'davit'])).output).toBe('disabled')
  await two.next.must(['systemctl', 'start', 'ssh'])
})

test('an undone move starts the old server as it was, and stops the new one', async () => {
  const { exitCode, output } = await two.old.run(['davit', 'move', '--undo', '--yes'])
  expect(output).toContain('Davit and its apps run here again')
  expect(exitCode).toBe(0)
  await until(two.oldServer.isReady, 60)
  expect((await two.idsOf(two.old)).split('\n').toSorted()).toEqual(
    two.containers.split('\n').toSorted(),
  )
  expect(await two.row(two.old)).toBe('ahoy\nland')
  expect(await two.next.must(['docker', 'ps', '--quiet'])).toBe('')
  expect((await two.next.run(['systemctl', 'is-active', 'davit'])).output).toBe('inactive')
  expect((await two.move()).output).toContain(
    'isn’t empty: it has what was written while it replaced',
  )
})
