import { connectionOf } from '../../../src/services/compose/connection.ts'
import { describe, expect, test } from 'bun:test'
import { planContainers } from '../../../src/services/compose/containers.ts'
import { openTemplate } from '../../../src/services/compose/open.ts'
import { readCompose, readTemplate, stackOf } from '../../../src/services/compose/template.ts'
import { fillValues } from '../../../src/services/compose/values.ts'
import { refusalOf } from './refusal.ts'

const origin = { file: 'site.yaml' }
const block = `x-davit:
  name: Site
  description: A site with its database.
  category: web
  tags: [web, php]
  links: {docs: "https://example.com/docs"}
  version: "3.0"
  expose: [{service: web, port: 8080}]
  variables:
    DB_PASSWORD: {label: Password, generate: password, length: 24}
    TZ: {label: Time zone, default: UTC, pattern: "^[A-Za-z/_]+$$", options: [UTC, Europe/Berlin]}
    SITE: {required: true}
  connection: [{label: URL, value: "db://site:\${DB_PASSWORD}@db"}, {label: Host, value: "\${HOST}"}]
  files: {./init.sql: "alter user site password '\${DB_PASSWORD}'; -- $$1"}
  after: Sign in as admin.
`
const services = `services:
  web:
    image: site:3.0
    environment: {URL: "\${DAVIT_URL}", SITE: , TZ: "\${TZ:-UTC}"}
    healthcheck: {test: [CMD, "true"]}
    depends_on: {db: {condition: service_healthy}}
  db:
    image: db:1
    environment: {PASSWORD: "\${DB_PASSWORD:?}"}
    volumes: ["./init.sql:/init.sql", "data:/data"]
    healthcheck: {disable: true}
volumes: {data: }
`
const read = (text: string) => readTemplate(text, origin)

describe('a template of the catalogue', () => {
  test('shows what it is, what it asks for and what it publishes', () => {
    const template = read(block + services)
    expect(template.about).toEqual({
      name: 'Site',
      description: 'A site with its database.',
      category: 'web',
      tags: ['web', 'php'],
      links: { docs: 'https://example.com/docs' },
      version: '3.0',
    })
    expect(template.expose).toEqual([{ service: 'web', port: 8080 }])
    expect(template.after).toBe('Sign in as admin.')
    expect(template.variables.get('DB_PASSWORD')).toMatchObject({
      label: 'Password',
      secret: true,
      generate: { kind: 'text', length: 24, alphabet: 'alphanumeric' },
    })
    expect(template.variables.get('TZ')).toMatchObject({ default: 'UTC', secret: false })
    expect(template.variables.get('SITE')).toMatchObject({ required: true, label: 'SITE' })
  })

  test('becomes containers once its variables have values', () => {
    const template = read(block + services)
    const values = fillValues(template.variables, { given: new Map([['SITE', '$TZ "x"']]) })
    const password = values.get('DB_PASSWORD')!
    const stack = stackOf(template, new Map([...values, ['DAVIT_URL', 'http://127.0.0.1:20001']]))
    const [db, web] = planContainers(stack, {
      id: 'i',
      name: 'n',
      publishAddress: '127.0.0.1',
    })
    expect(web!.options.env).toEqual({ URL: 'http://127.0.0.1:20001', SITE: '$TZ "x"', TZ: 'UTC' })
    expect(db!.options.env).toEqual({ PASSWORD: password })
    expect(db!.files).toEqual([
      { path: '/init.sql', content: `alter user site password '${password}'; -- $1`, mode: 0o644 },
    ])
    expect(connectionOf(template, { host: 'site', values })).toEqual([
      { label: 'URL', value: `db://site:${password}@db`, secret: true },
      { label: 'Host', value: 'site', secret: false },
    ])
  })

  test.each([
    ['no x-davit', services, /no x-davit block/],
    [
      'a key that is unknown',
      block + '  colour: red\n' + services,
      /line 16, column 3: x-davit\.colour isn’t supported/,
    ],
    [
      'an unknown key of a variable',
      block.replace('length: 24', 'lenght: 24') + services,
      /x-davit\.variables\.DB_PASSWORD\.lenght isn’t supported/,
    ],
    ['no name', block.replace('  name: Site\n', '') + services, /x-davit\.name is missing/],
    ...[
      ['{GONE: {how: x}}', 'GONE isn’t a variable'],
      ['{DB_PASSWORD: {service: none, run: [a]}}', 'DB_PASSWORD uses none, which isn’t a service'],
      ['{DB_PASSWORD: {service: web}}', 'DB_PASSWORD must have a service with what to run'],
      ['{DB_PASSWORD: {service: web, run: [a], how: x}}', 'DB_PASSWORD must have a service'],
      ['{DB_PASSWORD: {service: web, run: no_such}}', 'DB_PASSWORD.run'],
      ['{DB_PASSWORD: {}}', 'DB_PASSWORD must have a service'],
    ].map(([said, message]): [string, string, RegExp] => [
      `the first start ${said}`,
      `${block}  first_start: ${said}\n${services}`,
      new RegExp(`x-davit\\.first_start\\.${message}`),
    ]),
    [
      'a version that YAML reads as a number',
      block.replace('"3.0"', '3') + services,
      /x-davit\.version must be text; put a number in quotes/,
    ],
    [
      'a variable that is used but not declared',
      block + services.replace('${TZ:-UTC}', '${ZONE}${TZ}'),
      /line 19, column \d+: services\.web\.environment\.TZ uses ZONE/,
    ],
    [
      'a file with one',
      block.replace('-- $$1', '-- $ZONE') + services,
      /x-davit\.files\.\.\/init\.sql uses ZONE/,
    ],
    [
      'a variable that is declared but not used',
      block + services.replace('${TZ:-UTC}', 'UTC'),
      /line 11, column 5: x-davit\.variables\.TZ isn’t used/,
    ],
    [
      'a variable with a bad name',
      block.replace('SITE: {', '"S T": {') + services,
      /x-davit\.variables\.S T must be a name/,
    ],
    [
      'a service that goes on without a health check',
      block + services.replace('    healthcheck: {disable: true}\n', ''),
      /services\.db has no healthcheck/,
    ],
    [
      'a port of a service that is not there',
      block.replace('service: web', 'service: wbe') + services,
      /x-davit\.expose\[0\] uses wbe/,
    ],
    [
      'a default beside generate',
      block.replace('length: 24', 'default: a') + services,
      /DB_PASSWORD\.default can’t be combined with generate/,
    ],
    [
      'a default that is no option',
      block.replace('default: UTC', 'default: PST') + services,
      /TZ\.default must be one of the options/,
    ],
    [
      'a length where none counts',
      block.replace('password, length', 'uuid, length') + services,
      /DB_PASSWORD\.length is only for/,
    ],
    [
      'a token signed with nothing',
      block.replace('password, length: 24', 'jwt, key: GONE') + services,
      /DB_PASSWORD\.key isn’t a variable/,
    ],
    [
      'a pattern that can’t be read',
      block.replace('^[A-Za-z/_]+$$', '^(?<=a)') + services,
      /The pattern/,
    ],
    [
      'a link that is a script',
      block.replace('https://example.com/docs', 'javascript:alert(1)') + services,
      /x-davit\.links\.docs must be an address/,
    ],
    ...[
      ['{web: {database: x, sql: SELECT 1}}', 'web isn’t a database of PostgreSQL or MySQL'],
      ['{db: {database: x}}', 'db.sql is missing'],
      ['{db: {sql: SELECT 1}}', 'db.database is missing'],
      ['{db: {database: x, sql: ""}}', 'db.sql can’t be empty'],
    ].map(([said, message]): [string, string, RegExp] => [
      `the query ${said}`,
      `${block}  backup: { databases: { db: mysql }, queries: ${said} }\n${services}`,
      new RegExp(`x-davit\\.backup\\.queries\\.${message}`),
    ]),
    [
      'a key of Compose that isn’t supported',
      block + services.replace('image: db:1', 'image: db:1\n    runtime: x'),
      /services\.db\.runtime isn’t supported/,
    ],
  ])('with %s is refused by name', (_, text, message) => {
    expect(refusalOf(() => read(text))).toMatch(message)
  })

  test('needs no health check for what runs once', () => {
    const text = `${block}${services.replace('    healthcheck: {disable: true}\n', '')}`
    const once = text.replace(
      'condition: service_healthy',
      'condition: service_completed_successfully',
    )
    expect(read(once).about.name).toBe('Site')
  })
})

describe('a Compose file of the user’s own', () => {
  const text = `
name: blog
services:
  web:
    image: ghost:\${TAG:-5}
    ports: ["\${PORT}:80"]
    environment: {PASSWORD: "\${DB_PASSWORD:?}", MAIL: "\${MAIL:-}", A: "\${X:-1}\${X:-2}"}
`
  test('asks for the variables that it mentions', () => {
    const env = new Map([['PORT', '8080']])
    const { variables, about } = readCompose(text, origin, { env })
    expect(about.name).toBe('blog')
    expect([...variables.values()].map((v) => [v.name, v.default, v.required, v.secret])).toEqual([
      ['TAG', '5', false, false],
      ['PORT', '8080', false, false],
      ['DB_PASSWORD', null, true, true],
      ['MAIL', '', false, false],
      ['X', null, false, false],
    ])
  })

  test('each mention keeps its own fallback', () => {
    const template = readCompose(text, origin, { env: new Map([['PORT', '8080']]) })
    const values = fillValues(template.variables, { given: new Map([['DB_PASSWORD', 'p']]) })
    const web = stackOf(template, values).services.get('web')!
    expect(web.environment.get('A')).toBe('12')
    expect(web.ports[0]!.host).toBe(8080)
  })

  test('is judged at once but for what a missing value decides', () => {
    expect(readCompose(text, origin).variables.size).toBe(5)
    const other = () => readCompose(`${text}    runtime: x`, origin)
    expect(refusalOf(other)).toContain('services.web.runtime')
    const bad = readCompose(text, origin)
    const values = new Map([
      ['DB_PASSWORD', 'p'],
      ['PORT', '0'],
    ])
    expect(refusalOf(() => stackOf(bad, values))).toContain(
      'line 6, column 13: services.web.ports[0]',
    )
  })

  test('needs no health check, and is told from templates of others', () => {
    expect(openTemplate('services: {a: {image: b}}', origin, { name: 'mine' }).about.name).toBe(
      'compose',
    )
    expect(openTemplate(block + services, origin, { name: 'mine' }).about.name).toBe('Site')
  })
})
