import { expect, test } from 'bun:test'
import { hashPassword } from '../src/accounts/passwords.ts'
import { updateUser } from '../src/accounts/store.ts'
import { testApp } from './support/app.ts'
import { openFirefox } from './support/firefox.ts'
import { listening } from './support/listening.ts'
import { pagesOf, seeded } from './support/seeded.ts'

const password = 'correct horse battery'

test('in Firefox every page is whole, and what pages do by script works', async () => {
  const t = testApp({ DAVIT_REGISTRATION: 'invite' })
  const { ids, cookie, root } = await seeded(t)
  updateUser(t.db, root.user.id, { passwordHash: await hashPassword(password) })
  const pages = await pagesOf(t, ids, cookie)
  const firefox = await openFirefox(`http://127.0.0.1:${listening(t).port}`)
  const { goto, see, seeText, click, type, press, evaluate } = firefox

  await goto('/login')
  await click('[name=email]')
  await type(root.user.email)
  await press('Tab')
  await type(password)
  await press('Enter')
  await see(`location.pathname === '/dashboard' && document.readyState === 'complete'`)

  const found: string[] = []
  for (const [name, path] of Object.entries(pages)) {
    await goto(path)
    for (const width of [1280, 390]) {
      await firefox.resize(width, 900)
      const over = await evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      if (over > 0) found.push(`${name} is ${over} px wider than ${width}`)
    }
    found.push(...firefox.complaints.splice(0).map((text) => `${name}: ${text}`))
  }
  expect(found).toEqual([])
  await firefox.resize(1280, 900)

  // what another session changes appears, with the focus where it was
  const environment = `/projects/${ids.project}/envs/${ids.environment}`
  await goto(environment)
  await root.put(environment, { branch: 'seen-in-firefox' })
  await seeText('main *', 'seen-in-firefox')

  // a dialog's form: what is wrong is said in it, what is right is saved, and the focus comes back
  await goto(`/envs/${ids.environment}/variables`)
  await click('a[href$="/variables/new"]')
  await see(`document.activeElement.name === 'key'`)
  await type('1 WRONG')
  await press('Enter')
  await see(`document.querySelector('dialog[open] [name=key][aria-invalid=true]')`)
  await press('Escape')
  await see(`!document.querySelector('dialog[open]')`)
  expect(await evaluate<string>('document.activeElement.textContent')).toContain('New variable')
  await press('Enter')
  await seeText('dialog[open] .restored', 'This is what you typed before')
  await see(`document.activeElement.name === 'key'`)
  await press('Control', 'a')
  await type('COLOUR')
  await press('Enter')
  await seeText('.toast', 'Variable saved.')
  await seeText('main *', 'COLOUR')

  // the log: its lines, a search, a line that is linked to
  await goto(`/projects/${ids.project}/deployments/${ids.deployment}`)
  await seeText('.line', 'inverse')
  await click('#log-query')
  await type('no database')
  await press('Enter')
  await seeText('.line.match', 'no database')

  await press('Control', 'k')
  await see(`document.activeElement.closest('dialog.palette')`)
  await type('audit')
  await seeText('dialog.palette [aria-selected=true]', 'Audit')
  await press('Enter')
  await see(`location.pathname === '/settings/audit' && document.readyState === 'complete'`)

  await click('[aria-label="Your account"]')
  await click('[aria-label="Dark theme"]')
  await see(`document.documentElement.classList.contains('dark')`)
  await goto('/services')
  await see(`document.documentElement.classList.contains('dark')`)
  expect(firefox.complaints).toEqual([])
}, 600_000)
