import { describe, expect, test } from 'bun:test'
import { openVariables } from '../../src/environments/variable-store.ts'
import { contentsOf } from '../support/refusals.ts'
import { insertDeployment, logOf } from '../../src/deployments/store.ts'
import { LogWriter } from '../../src/logs/log-writer.ts'
import { getNewestBlock } from '../../src/logs/store.ts'
import { outputOf } from '../../src/logs/answer-log.tsx'
import { noOrigin, readBlock } from '../../src/logs/block.ts'
import { randomBytesOf } from '../../src/platform/secrets.ts'
import { writeOutput } from './writing.ts'
import { readEvents } from '../demo/events.ts'
import { testApp, withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { Failure } from '../../src/platform/errors.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { aRunning } from '../containers/engine.ts'
import { LogBatch } from '../../src/logs/log-batch.ts'
import { anEnvironment, collect, linesUntil, written } from './collecting.ts'
import type { Line } from './collecting.ts'

const value = 'hunter2-of-production'

/** An environment with a variable, and ways to write and to read its kept output and a deployment's log. */
async function aSite({ secret }: { secret: boolean }) {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const variables = `/envs/${environment.id}/variables`
  const { id: variableId } = (await ada.post(variables, { key: 'TOKEN', value, secret })).json
  const deployment = insertDeployment(t.db, {
    projectId: environment.projectId,
    environmentId: environment.id,
    status: 'failed',
    trigger: 'manual',
    triggeredBy: 'ada@example.com',
    repositoryUrl: 'https://git.example.com/team/site.git',
  })
  const log = new LogWriter(t.deps, logOf(deployment))
  /** As it was said, without anything hidden. */
  const write = (text: string, { time = Date.now() } = {}) => {
    writeOutput(t, { sourceId: environment.id }, [{ time, stream: 'stdout', text }])
    log.write(text, 'stdout')
    log.flush()
  }
  const logs = `/projects/${environment.projectId}/deployments/${deployment.id}/logs`
  return { ...{ t, ada, environment, variables, variableId, log }, write, logs }
}

type Site = Awaited<ReturnType<typeof aSite>>

/** All that the routes of a log say of it, in whatever form. */
async function everythingSaid({ ada, environment: { output }, logs }: Site) {
  const texts: string[] = []
  for (const path of [output, logs]) {
    texts.push((await ada.get(`${path}?limit=100`)).text)
    texts.push((await ada.htmx('GET', path === logs ? `${path}?limit=100` : path)).text)
    texts.push(await (await ada.send(`${path}?download=1`)).text())
  }
  texts.push((await ada.get(`${output}?before=1000`)).text)
  texts.push((await ada.page(output)).text)
  texts.push((await ada.page(logs.replace(/\/logs$/, ''))).text)
  for (const [path, format] of [
    [`${output}/stream`, 'json'],
    [`${output}/stream`, 'html'],
    [logs, 'json'],
    [logs, 'html'],
  ]) {
    const headers = { Accept: 'text/event-stream' }
    const response = await ada.send(`${path}?format=${format}&after=0`, { headers })
    for await (const { data } of readEvents(response.body!)) {
      texts.push(data)
      if (data.includes('the end')) break
    }
  }
  return texts.join('\n')
}

const hits = async ({ ada, environment: { output }, logs }: Site, search: string) => {
  const counts: number[] = []
  for (const path of [output, logs])
    counts.push((await ada.get(`${path}?search=${search}`)).json.items.length)
  return counts
}

describe('a variable that is marked secret', () => {
  test('is hidden at once in what was kept before, on every way to it', async () => {
    const site = await aSite({ secret: false })
    site.write(`connecting with ${value}`)
    site.write('the end')
    expect(await everythingSaid(site)).toContain(value)
    await site.ada.put(`${site.variables}/${site.variableId}`, { secret: true })
    const said = await everythingSaid(site)
    expect(said).not.toContain('hunter2')
    expect(said).toContain('connecting with ***')
  })

  test('is hidden in why a deployment failed', async () => {
    const site = await aSite({ secret: false })
    const error = `UPDATE deployments SET error_code = 'exited', error_message = 'exited: ${value}', error_hint = ''`
    site.t.db.$client.run(error)
    await site.ada.put(`${site.variables}/${site.variableId}`, { secret: true })
    const { json } = await site.ada.get(site.logs.replace(/\/logs$/, ''))
    expect(json.error.message).toBe('exited: ***')
  })

  test('with a whole .env file is hidden and sealed, whatever it was before', async () => {
    const site = await aSite({ secret: false })
    const { t, ada, variables } = site
    site.write(`connecting with ${value}`)
    const error = `UPDATE deployments SET error_code = 'exited', error_message = 'exited: ${value}', error_hint = 'not another-value-now'`
    t.db.$client.run(error)
    const dotenv = 'TOKEN=another-value-now\nNEW=x'
    const { status, json } = await ada.post(variables, { dotenv, secret: true })
    expect(status).toBe(201)
    for (const { key, value, secret } of json.items)
      expect({ key, value, secret }).toEqual({ key, value: null, secret: true })
    const { error: shown } = (await ada.get(site.logs.replace(/\/logs$/, ''))).json
    expect(shown).toMatchObject({ message: 'exited: ***', hint: 'not ***' })
    expect(await hits(site, 'hunter2')).toEqual([0, 0])
    expect(JSON.stringify(contentsOf(t))).not.toContain('another-value-now')
    const values = openVariables(t.db, t.secrets, site.environment.id)
    expect(values).toMatchObject([
      { key: 'NEW', value: 'x' },
      { key: 'TOKEN', value: 'another-value-now' },
    ])
  })

  test('is hidden in why a deployment fails that began before', async () => {
    const { t, ada } = withAda(testApp())
    const project = await aProject(t, ada, anApp('x'))
    const variables = `/envs/${project.environmentId}/variables`
    const { id } = (await ada.post(variables, { key: 'TOKEN', value })).json
    t.faults.buildImage = async function* () {
      yield { stream: 'stdout', text: 'building' } as never
      await ada.put(`${variables}/${id}`, { secret: true })
      throw new Failure('build_failed', `The step printed ${value}.`, 'Look at it.')
    }
    const { error } = await project.deploy()
    expect(error.message).toContain('***')
    expect(error.message).not.toContain(value)
  })

  test('is not found by its parts, by a hit or by none', async () => {
    const site = await aSite({ secret: false })
    site.write(`connecting with ${value}`)
    expect(await hits(site, 'with+hunter2')).toEqual([1, 1])
    await site.ada.put(`${site.variables}/${site.variableId}`, { secret: true })
    for (const part of ['hunter2', 'HUNTER2-of', 'with+h', value])
      expect(await hits(site, part)).toEqual([0, 0])
    expect(await hits(site, 'with+***')).toEqual([1, 1])
    const { json } = await site.ada.get(`${site.logs}?search=hunter2`)
    expect(json).toMatchObject({ found: 0, nextCursor: null })
  })

  test('is hidden from those who follow already, though the writer does not know yet', async () => {
    const site = await aSite({ secret: false })
    const { ada, environment, log, t } = site
    const { state } = await t.masks.of(environment.id)
    const streams = [`${environment.output}/stream?format=json`, `${site.logs}?format=json`]
    t.db.$client.run("UPDATE deployments SET status = 'building'")
    const readers = streams.map(async (path) => {
      const response = await ada.send(path, { headers: { Accept: 'text/event-stream' } })
      for await (const { data } of readEvents(response.body!))
        if (data.includes('now')) return JSON.parse(data).text
    })
    await until(() => t.logs.size === 2)
    await ada.put(`${site.variables}/${site.variableId}`, { secret: true })
    const line = { sequence: 1, time: Date.now(), stream: 'stdout', text: `now ${value}` } as const
    t.logs.publish(environment.id, new LogBatch([{ ...line, ...noOrigin }], state))
    log.write(line.text, 'stdout')
    log.flush()
    expect(await Promise.all(readers)).toEqual(['now ***', 'now ***'])
  })

  test('is hidden across the pieces of a long line, wherever a page begins', async () => {
    const site = await aSite({ secret: false })
    site.write(`${'x'.repeat(16_384 - 7)}hunter2`)
    site.write('-of-production goes on')
    await site.ada.put(`${site.variables}/${site.variableId}`, { secret: true })
    for (const path of [site.environment.output, site.logs]) {
      const { items } = (await site.ada.get(`${path}?after=1`)).json
      expect(items.map(({ text }: Line) => text)).toEqual(['*** goes on'])
    }
  })
})

describe('a value that was secret stays masked in what was written then', () => {
  const changes: [string, (site: Site, path: string) => Promise<unknown>][] = [
    ['deleted', ({ ada }, path) => ada.delete(path)],
    ['renamed', ({ ada }, path) => ada.put(path, { key: 'OTHER' })],
    ['changed', ({ ada }, path) => ada.put(path, { value: 'another-value-now' })],
    ['made readable', ({ ada }, path) => ada.put(path, { secret: false, value: 'readable' })],
    [
      'changed by a pasted .env',
      ({ ada, variables }) => ada.post(variables, { dotenv: 'TOKEN=another-value-now' }),
    ],
    [
      'changed and deleted',
      async ({ ada }, path) => {
        await ada.put(path, { value: 'another-value-now' })
        await ada.delete(path)
      },
    ],
  ]
  test.each(changes)('after it was %s', async (_, change) => {
    const site = await aSite({ secret: false })
    site.write(`connecting with ${value}`)
    site.write('the end')
    const path = `${site.variables}/${site.variableId}`
    await site.ada.put(path, { secret: true })
    await change(site, path)
    expect(await everythingSaid(site)).not.toContain('hunter2')
    expect(await hits(site, 'hunter2')).toEqual([0, 0])
  })

  test('but not in what is written later, when it is secret no longer', async () => {
    const site = await aSite({ secret: true })
    await site.ada.delete(`${site.variables}/${site.variableId}`)
    site.write(`now readable: ${value}`, { time: Date.now() + 3_600_000 })
    const { items } = (await site.ada.get(site.environment.output)).json
    expect(items[0].text).toBe(`now readable: ${value}`)
  })

  test('and is sealed in the database until its environment goes', async () => {
    const site = await aSite({ secret: true })
    await site.ada.delete(`${site.variables}/${site.variableId}`)
    const rows = () => site.t.db.$client.query('SELECT value FROM past_secrets').all()
    expect(rows()).toHaveLength(1)
    expect(JSON.stringify(rows())).not.toContain('hunter2')
    await site.ada.delete(`/projects/${site.environment.projectId}`)
    expect(rows()).toEqual([])
  })

  test('however often others are changed, up to a bound', async () => {
    const site = await aSite({ secret: true })
    const path = `${site.variables}/${site.variableId}`
    const values = Array.from({ length: 6 }, () => randomBytesOf(45_000).toHex())
    for (const value of values) await site.ada.put(path, { value })
    const rows = site.t.db.$client.query<{ length: number }, []>(
      'SELECT length(value) AS length FROM past_secrets',
    )
    const total = rows.all().reduce((sum, { length }) => sum + length, 0)
    expect(total).toBeLessThan(500_000)
    const { mask } = await site.t.masks.of(site.environment.id)
    expect(mask(`${values[4]} ${values[5]}`)).toBe('*** ***')
  })
})

test('a container that still has a deleted secret shows it neither live nor in what is kept', async () => {
  const { t, ada } = withAda(testApp())
  collect(t)
  const script = 'trap "echo then $TOKEN; exit" TERM; echo first $TOKEN; sleep 60 & wait'
  const env = { TOKEN: value }
  const { id, project, environment } = await aRunning(t, ada, script, { env })
  const variables = `/envs/${environment.id}/variables`
  const output = `/projects/${project.id}/envs/${environment.id}/output`
  const variable = (await ada.post(variables, { key: 'TOKEN', value, secret: true })).json
  await linesUntil(ada, output, ({ text }) => text === 'first ***')
  await ada.delete(`${variables}/${variable.id}`)
  await t.docker.stopContainer(id, { timeoutSeconds: 5 })
  await linesUntil(ada, output, ({ text }) => text === 'then ***')
  const stored = readBlock(getNewestBlock(t.logDb, outputOf(environment))!)
  expect(JSON.stringify(stored)).not.toContain('hunter2')
  const live = await ada.get(`/containers/${id}/logs`)
  expect(written(live.json.items)).toEqual(['first ***', 'then ***'])
  const { text } = await ada.page(`/containers/${id}`)
  expect(text).toContain('then ***')
  expect(text).not.toContain('hunter2')
})
