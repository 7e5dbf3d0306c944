import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chooseTests, engines, isOf } from './engines.ts'

const versionsOf = (names: string[], own = '20.10.24+dfsg1') =>
  chooseTests(names, own).chosen.map(({ version }) => version)

test('all engines are chosen unless some are named', () => {
  expect(versionsOf([])).toEqual(['20.10', '26.1', '28.5'])
  expect(versionsOf(['--retry=1', 'test/runs/'])).toEqual(['20.10', '26.1', '28.5'])
  expect(versionsOf(['28.5', '20.10'])).toEqual(['28.5', '20.10'])
  expect(() => versionsOf(['19.03'])).toThrow('There is no Docker 19.03 to test with, only 20.10,')
})

test('of the oldest and the newest those are left out that the machine has itself', () => {
  expect(versionsOf(['ends', '--retry=1'])).toEqual(['28.5'])
  expect(versionsOf(['ends'], '26.1.5')).toEqual(['20.10', '28.5'])
  expect(versionsOf(['ends'], '28.5.2')).toEqual(['20.10'])
})

test('files and options are passed on, and all folders are there', () => {
  const { tests } = chooseTests(['28.5', 'test/runs/', '--retry=1'], '20.10.24')
  expect(tests).toEqual(['--retry=1', 'test/runs/'])
  const root = join(import.meta.dir, '../..')
  const folders = chooseTests([], '').tests.filter((path) => !path.startsWith('--'))
  expect(folders.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('the documentation has the versions that are tested', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../assets/docs/engines.md')).text()
  const rows = [...text.matchAll(/^\| (\d[\d.]+) +\| (?:\d+, )?(\w+) /gm)]
  expect(rows.map(([, , suite]) => suite!)).toEqual(engines.map(({ suite }) => suite))
  expect(rows.map(([, version], index) => isOf(engines[index]!, version!))).toEqual([
    true,
    true,
    true,
  ])
})
