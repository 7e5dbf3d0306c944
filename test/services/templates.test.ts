import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { Field } from '../../src/services/compose/field.ts'
import { mentionsIn } from '../../src/services/compose/interpolate.ts'
import { compilePattern } from '../../src/services/compose/pattern.ts'
import { readTemplate } from '../../src/services/compose/template.ts'
import type { Template } from '../../src/services/compose/template.ts'
import { askedFor, fillValues } from '../../src/services/compose/values.ts'
import type { Variable } from '../../src/services/compose/variables.ts'
import { componentsOf, versionedStack } from '../../src/services/definition.ts'
import type { Definition } from '../../src/services/definition.ts'
import { portsWanted } from '../../src/services/ports.ts'
import { recipes } from '../support/images/recipes.ts'

const directory = join(import.meta.dir, '../../src/services/templates')
const names = readdirSync(directory)
  .map((file) => file.replace('.yaml', ''))
  .toSorted()
const deps = {
  config: parseConfig({ DAVIT_DATA_DIR: '/nowhere' }),
  db: openDatabase(':memory:'),
  secrets: new Secrets('a secret of the tests, 32 bytes long'),
  instanceId: 'installation',
}

/** What has to be in the catalogue. */
const promised = [
  ...['postgresql', 'mysql', 'mariadb', 'redis', 'valkey', 'mongodb', 'minio', 'rabbitmq', 'nats'],
  ...['meilisearch', 'ghost', 'wordpress', 'gitea', 'n8n', 'uptime-kuma', 'vaultwarden'],
  ...['plausible', 'umami', 'grafana', 'metabase', 'nextcloud', 'directus', 'immich', 'nocodb'],
]

type Row = { services: string; version: string; loaded: boolean; mapped: boolean }
const table = new Map<string, Row>()

afterAll(() => {
  const lines = [...table].map(([name, { services, version, loaded, mapped }]) => {
    const real = recipes.some(({ template }) => template === name)
    const started = real ? 'yes' : 'no: its image is not made of Debian’s packages'
    return [name, services, version, loaded ? 'yes' : 'no', mapped ? 'yes' : 'no', started]
  })
  const head = ['template', 'services', 'version', 'loaded', 'mapped', 'started for real']
  const rows = [head, head.map(() => '---'), ...lines]
  console.info(rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n'))
})

test('the catalogue has what it promises', () => {
  expect(names).toEqual(expect.arrayContaining(promised))
})

test('an imported WordPress answers its query, whatever prefix its tables have', async () => {
  const compose = await Bun.file(join(directory, 'wordpress.yaml')).text()
  const { sql } = readTemplate(compose, { file: 'wordpress.yaml' }).backup!.queries.db!
  expect(sql).toContain("'%options'")
  expect(sql).not.toContain('wp_')
})

describe.each(names)('the template %s', (name) => {
  test('loads, takes values and becomes containers', async () => {
    const row: Row = { services: '', version: '', loaded: false, mapped: false }
    table.set(name, row)
    const compose = await Bun.file(join(directory, `${name}.yaml`)).text()
    const file = readTemplate(compose, { file: `${name}.yaml` })
    Object.assign(row, { loaded: true, version: file.about.version })

    const definition = define(name, compose, file)
    const stack = versionedStack(deps, definition)
    expect(stack.dangers).toEqual([])
    const plans = componentsOf(deps, definition)
    row.services = plans.map(({ name }) => name).join(', ')
    expect(plans.map(({ name }) => name).toSorted()).toEqual([...stack.services.keys()].toSorted())
    const images = plans.map(({ options }) => options.image)
    expect(images.filter((image) => image.endsWith(`:${row.version}`))).not.toBeEmpty()
    for (const { options, oneShot } of plans) {
      expect(options.image).toMatch(/:[^/:]*\d[^/:]*$/)
      for (const value of [...Object.values(options.env ?? {}), ...(options.command ?? [])])
        expect(value).not.toMatch(/undefined|\$\{/)
      if (!oneShot) expect(options.healthCheck).toMatchObject({ test: expect.anything() })
    }
    expect(plans.flatMap(({ options }) => options.ports ?? []).length).toBe(definition.ports.length)
    row.mapped = true
  })
})

/** What the images in the catalogue read when they have no data yet, and not again. */
const readOnce =
  /^(POSTGRES_(USER|DB|PASSWORD)|(MYSQL|MARIADB)_(USER|DATABASE|PASSWORD|ROOT_PASSWORD)|MONGO_INITDB_.*|RABBITMQ_DEFAULT_.*|GF_SECURITY_ADMIN_(USER|PASSWORD)|GOTIFY_DEFAULTUSER_.*|NEXTCLOUD_ADMIN_.*|ADMIN_(EMAIL|PASSWORD))$/

test('each template says which of its values count at the first start only', async () => {
  const marked: string[] = []
  for (const name of names) {
    const { tree, source, firstStart } = readTemplate(
      await Bun.file(join(directory, `${name}.yaml`)).text(),
      { file: `${name}.yaml` },
    )
    const services = new Field(tree, [], source).get('services')
    const once = services
      .entries()
      .flatMap(([, service]) => service.get('environment').entries())
      .filter(([key]) => readOnce.test(key))
      .flatMap(([, { value = null }]) => mentionsIn(value, source).map(({ name }) => name))
    expect([name, [...firstStart.keys()].toSorted()]).toEqual([name, [...new Set(once)].toSorted()])
    if (firstStart.size > 0) marked.push(name)
  }
  expect(marked).toHaveLength(18)
})

function define(name: string, compose: string, file: Template): Definition {
  const given = new Map(
    askedFor(file.variables)
      .filter((variable) => variable.required && !variable.generate && !variable.default)
      .map((variable) => [variable.name, sampleOf(variable)]),
  )
  const values = fillValues(file.variables, { given })
  const { version } = file.about
  const id = Bun.randomUUIDv7()
  const own = {
    id,
    ownerId: 'ada',
    host: name,
    domains: [],
    allowed: [],
    allowedBy: null,
    placement: null,
  }
  const made = { ...own, name, template: name, version, compose, values, file }
  const stack = versionedStack(deps, { ...made, ports: [] })
  const ports = portsWanted(file, stack).map(({ host: _, ...port }, index) => ({
    ...port,
    port: 20_000 + index,
  }))
  return { ...made, ports }
}

/** As a user might give it. */
function sampleOf({ name, pattern, options }: Variable) {
  const samples = [...options, 'example', 'ada@example.com', 'example.com', '20000', 'A-long_one1']
  const sample = samples.find((text) => pattern === null || compilePattern(pattern)(text))
  if (sample === undefined) throw new Error(`There is no sample for ${name}, which is ${pattern}.`)
  return sample
}
