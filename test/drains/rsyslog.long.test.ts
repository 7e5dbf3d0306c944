import { expect, onTestFinished, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { simulatedApp } from '../support/app.ts'
import { aFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { unpackPackage } from '../support/machine/packages.ts'
import { until } from '../support/until.ts'
import { drained, later } from './scene.ts'

/** Debian's rsyslog, which writes the parts of each message that it received as JSON. */
async function rsyslog() {
  const folder = aFolder()
  for (const name of ['rsyslog', 'libestr0', 'libfastjson4']) await unpackPackage(name, folder)
  const port = freePort()
  const output = join(folder, 'received.ndjson')
  const lib = [...new Bun.Glob('usr/lib/*/rsyslog').scanSync({ cwd: folder, onlyFiles: false })][0]!
  const fields = ['hostname', 'app-name', 'procid', 'msgid', 'syslogseverity-text', 'timereported']
  const entry = (name: string, option: string) =>
    `  property(outname="${name}" name="${name}" format="jsonf" ${option})\n`
  await Bun.write(
    join(folder, 'rsyslog.conf'),
    `module(load="imtcp")
input(type="imtcp" port="${port}" address="127.0.0.1")
template(name="json" type="list" option.jsonf="on") {
${fields.map((name) => entry(name, name === 'timereported' ? 'dateFormat="rfc3339"' : '')).join('')}${entry('msg', '')}}
action(type="omfile" file="${output}" template="json")
`,
  )
  const start = () => {
    const child = Bun.spawn(
      [
        join(folder, 'usr/sbin/rsyslogd'),
        ...['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')],
        ...['-M', join(folder, lib)],
      ],
      {
        stdout: 'ignore',
        stderr: 'ignore',
        env: { LD_LIBRARY_PATH: join(folder, lib, '..') },
      },
    )
    onTestFinished(async () => {
      child.kill(9)
      await child.exited
    })
    return child
  }
  const messages = async () =>
    existsSync(output)
      ? (await Bun.file(output).text())
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
  return { port, start, messages }
}

test('rsyslog gets each line once with all its parts, and those of the time it was away', async () => {
  const { port, start, messages } = await rsyslog()
  const { write, send, shown } = await drained(
    { kind: 'syslog', host: '127.0.0.1', port, tls: false },
    simulatedApp(),
  )
  write(1, () => 'ERROR: ünïcode "quoted" 😀')
  await send()
  expect(await shown()).toMatchObject({ sent: 0, waiting: 1 })
  const first = start()
  await until(async () => {
    await send({ later })
    return (await shown()).sent === 1
  })
  await until(async () => (await messages()).length === 1)
  const [message] = await messages()
  expect(message).toMatchObject({
    ...{
      hostname: expect.stringMatching(/^site-\w+\.production$/),
      'app-name': 'web',
      procid: 'c1',
    },
    ...{ msgid: 'stdout', 'syslogseverity-text': 'err' },
    msg: expect.stringContaining('ERROR: ünïcode "quoted" 😀'),
  })
  expect(Date.parse(message.timereported)).toBeGreaterThan(Date.now() - 600_000)
  first.kill(9)
  await first.exited
  write(3000)
  await send({ later })
  expect(await shown()).toMatchObject({ sent: 1, waiting: 3000 })
  start()
  await until(async () => {
    await send({ later })
    return (await shown()).waiting === 0
  })
  await until(async () => (await messages()).length >= 3001)
  const texts = (await messages()).map(({ msg }) => msg.trim())
  expect(texts).toHaveLength(3001)
  expect(texts.slice(1)).toEqual(Array.from({ length: 3000 }, (_, at) => `line ${at + 2}`))
}, 300_000)
