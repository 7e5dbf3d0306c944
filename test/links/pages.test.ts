import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { links } from '../../src/db/schema.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { aFolder } from '../support/folder.ts'

const store = `
x-davit:
  name: Store
  version: '1'
  variables:
    STORE_PASSWORD: { default: 's3cr3t-of-the-store', secret: true }
  provides:
    url: 'store://app:\${STORE_PASSWORD}@\${HOST}:7000'
    host: '\${HOST}'
  proposes: { STORE_URL: url }
services:
  data: { image: busybox, healthcheck: { disable: true }, environment: { P: '\${STORE_PASSWORD}' } }
`

/** An environment, services of the same owner, and a template of which more can be created. */
async function aSite() {
  const directory = aFolder()
  writeFileSync(join(directory, 'store.yaml'), store)
  const { t, ada } = withAda(simulatedApp({ DAVIT_TEMPLATES_DIR: directory }))
  const { id, projectId } = await anEnvironment(t, ada)
  const service = async (name: string) =>
    (await ada.post('/services/compose', { name, compose: store })).json
  const link = (serviceId: string, variables: Record<string, string>) =>
    t.db.insert(links).values({ environmentId: id, serviceId, variables }).run()
  const variables = `/envs/${id}/variables`
  const path = `/envs/${id}/links`
  /** The rows of the page of variables as a person reads them. */
  const rows = async () => {
    const { text } = await ada.page(variables)
    return [...text.matchAll(/<li[^>]* class="row variable-row">(.*?)<\/li>/gs)].map(([, row]) =>
      row!
        .replace(/<form.*<\/form>|<a class="btn.*?<\/a>|<button.*?<\/button>|<svg.*?<\/svg>/gs, ' ')
        .replace(/<[^>]+>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
  }
  return { t, ada, id, projectId, service, link, variables, path, rows }
}

describe('the page of variables', () => {
  test('has those of links and of Davit beside the own ones, and no secret', async () => {
    const { ada, service, link, variables, rows } = await aSite()
    link((await service('main')).id, { STORE_URL: 'url', STORE_HOST: 'host' })
    await ada.post(variables, { key: 'GREETING', value: 'hello' })
    expect(await rows()).toEqual([
      'GREETING hello',
      'STORE_URL •••••••• secret from main',
      'STORE_HOST main from main',
      'DAVIT_COMMIT set with each deployment',
      'DAVIT_BRANCH set with each deployment',
      'DAVIT_ENVIRONMENT production',
      expect.stringMatching(/^DAVIT_PROJECT ./),
      'DAVIT_APP_URL set with each deployment',
    ])
    expect((await ada.page(variables)).text).not.toContain('s3cr3t-of-the-store')
    const { items } = (await ada.get(variables)).json
    expect(items.map(({ key }: { key: string }) => key)).toEqual(['GREETING'])
  })

  test('says on both rows which one wins', async () => {
    const { ada, service, link, variables, rows } = await aSite()
    link((await service('first')).id, { STORE_HOST: 'host', PLACE: 'host' })
    link((await service('second')).id, { STORE_HOST: 'host' })
    await ada.post(variables, { key: 'PLACE', value: 'mine' })
    expect((await rows()).slice(0, 4)).toEqual([
      'PLACE mine overrides the one from first',
      'STORE_HOST first not used from first the one from second is used',
      'PLACE first not used from first your own value is used',
      'STORE_HOST second from second',
    ])
  })

  test('names what a service provides no longer', async () => {
    const { service, link, rows } = await aSite()
    link((await service('main')).id, { STORE_URL: 'address' })
    expect(await rows()).toContain('STORE_URL missing no longer provided by main')
  })

  test('leads, as that of services does, to where changes are applied without a build', async () => {
    const { ada, id, projectId, variables, path } = await aSite()
    for (const page of [variables, path])
      expect((await ada.page(page)).text).toContain(
        `The <a href="/projects/${projectId}/envs/${id}">overview</a> lists them`,
      )
  })
})

describe('a service that is linked', () => {
  test('names on its page the environments that use it', async () => {
    const { ada, id, projectId, service, link } = await aSite()
    const { id: serviceId } = await service('main')
    const page = async () => (await ada.page(`/services/${serviceId}`)).text
    expect(await page()).toContain('No app is linked to it.')
    link(serviceId, { STORE_URL: 'url' })
    expect(await page()).toContain(`href="/projects/${projectId}/envs/${id}"`)
    expect(await page()).toContain('</bdi> / <bdi>production</bdi>')
  })

  test('is deleted only by who was told, or with force', async () => {
    const { t, ada, service, link } = await aSite()
    const { id } = await service('main')
    await t.jobs.idle()
    expect((await ada.htmx('GET', `/services/${id}/delete`)).text).not.toContain('name="force"')
    link(id, { STORE_URL: 'url' })
    const refused = await ada.delete(`/services/${id}`)
    expect(refused.status).toBe(409)
    expect(refused.json.detail).toMatch(/^main is linked to .+ \/ production\. Remove these links/)
    const dialog = (await ada.htmx('GET', `/services/${id}/delete`)).text
    expect(dialog).toContain('An app uses it')
    expect(dialog).toContain('name="force" value="1"')
    expect((await ada.delete(`/services/${id}`, { force: true })).status).toBe(200)
    expect(t.db.select().from(links).all()).toEqual([])
  })
})

describe('“Add database”', () => {
  test('offers services that are there, and templates that say what they provide', async () => {
    const { ada, path, service, link } = await aSite()
    const free = await service('free')
    link((await service('taken')).id, {})
    const { text } = await ada.htmx('GET', `${path}/new`)
    expect(text).toContain(`${path}/new?service_id=${free.id}`)
    expect(text).toContain('already linked')
    expect(text).toContain(`${path}/new?template=store`)
    expect(text).not.toContain('?template=uptime-kuma')
    const choice = `href="${path}/new?template=store"`
    const inDialog = 'hx-target="closest dialog"'
    const linkIn = (page: string) => page.slice(page.indexOf(choice)).split('>')[0]
    expect(linkIn(text)).toContain(inDialog)
    const opened = (await ada.page(`${path}/new`)).text
    expect(linkIn(opened)).toStartWith('href=')
    expect(linkIn(opened)).not.toContain(inDialog)
  })

  test('shows what a service provides, and the proposed keys as lines', async () => {
    const { ada, path, service } = await aSite()
    const { id } = await service('main')
    const { text } = await ada.htmx('GET', `${path}/new?service_id=${id}`)
    expect(text).toContain('STORE_URL=url</textarea>')
    expect(text).toContain('<code>main</code>')
    expect(text).not.toContain('s3cr3t-of-the-store')
  })

  test('creates a service and links it in one step, and the list shows both', async () => {
    const { t, ada, path } = await aSite()
    const { text } = await ada.htmx('GET', `${path}/new?template=store`)
    expect(text).toMatch(/name="name"[^>]* value="store"/)
    expect(text).not.toContain('s3cr3t-of-the-store')
    const fields = { template: 'store', name: 'Main Store', variables: 'STORE_URL=url\nPLACE=host' }
    const answer = await ada.form(path, fields)
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, path])
    const page = (await ada.page(path)).text
    for (const shown of ['Main Store', '<code>main-store</code>', 'STORE_URL', 'PLACE'])
      expect(page).toContain(shown)
    await t.jobs.idle()
    const [{ id }] = (await ada.get(path)).json.items
    const edit = (await ada.htmx('GET', `${path}/${id}`)).text
    expect(edit).toContain('STORE_URL=url\nPLACE=host</textarea>')
    await ada.form(`${path}/${id}`, { _method: 'PUT', variables: '' })
    expect((await ada.get(`${path}/${id}`)).json.variables).toEqual([])
    await ada.form(`${path}/${id}`, { _method: 'DELETE' })
    expect((await ada.page(path)).text).toContain('No database yet')
  })

  test('that is refused comes back with all that was typed and what is wrong with it', async () => {
    const { ada, path, service } = await aSite()
    await service('main')
    const fields = { template: 'store', name: 'main', variables: 'STORE_URL=url', version: '2' }
    const taken = await ada.htmx('POST', path, fields)
    expect(taken.status).toBe(409)
    expect(taken.text).toContain('You already have a service with this name.')
    expect(taken.text).toContain('STORE_URL=url</textarea>')
    expect(taken.text).toMatch(/name="version"[^>]* value="2"/)

    const wrong = await ada.htmx('POST', path, {
      ...fields,
      name: 'x',
      variables: 'STORE_URL=nothing',
    })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('which the service doesn’t provide.')
    expect(wrong.text).toContain('STORE_URL=nothing</textarea>')
    expect((await ada.get(path)).json.items).toEqual([])
    expect((await ada.get('/services')).json.instances).toHaveLength(1)
  })
})

test('every dialog of an environment’s pages is a page of its own without script', async () => {
  const { ada, id, projectId, service, link, variables, path } = await aSite()
  link((await service('main')).id, { STORE_URL: 'url' })
  await ada.post(variables, { key: 'GREETING', value: 'hello' })
  const opened = new Set<string>()
  for (const page of [`/projects/${projectId}/envs/${id}`, variables, path]) {
    const { text } = await ada.page(page)
    expect(text).not.toMatch(/<button[^>]* hx-get=/)
    for (const [, href] of text.matchAll(/<a class="btn[^>]* href="([^"]+)" hx-get=/g))
      opened.add(href!)
  }
  expect(opened.size).toBe(5) // add database, edit link, new variable, edit variable, deploy later
  for (const href of opened) expect((await ada.page(href)).text, href).toContain('<!DOCTYPE html>')
})
