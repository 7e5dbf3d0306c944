import { describe, expect, test } from 'bun:test'
import { settingsOf, withSettings } from '../../src/server/environment-file.ts'
import { environmentFiles, values } from './environment-files.ts'

describe('the settings file', () => {
  test.each(environmentFiles)('%j is read as systemd reads it', (text, settings) => {
    expect(settingsOf(text)).toEqual(settings)
  })

  test.each(values)('%j is read as it was written', (value) => {
    const text = withSettings('A=1\nC=3\n', { A: value, B: value })
    expect(settingsOf(text)).toEqual({ A: value, B: value, C: '3' })
    expect(text.split('\n')).toHaveLength(4)
  })

  test('takes no value of two lines', () => {
    expect(() => withSettings('', { A: 'x\nDAVIT_HOST=0.0.0.0' })).toThrow('A has a line break')
  })

  test('keeps what an operator wrote when a setting changes', () => {
    const text =
      '# kept\nDAVIT_PORT=3000\n\nDAVIT_URL="https://a\\\n.example"\n  DAVIT_HOST=127.0.0.1 \nno line\n'
    const changed = withSettings(text, { DAVIT_PORT: '4000', DAVIT_DOMAIN: 'a.example' })
    expect(changed).toBe(`${text.replace('3000', '4000')}DAVIT_DOMAIN=a.example\n`)
    expect(withSettings(text, { DAVIT_URL: 'https://b' })).toBe(
      '# kept\nDAVIT_PORT=3000\n\nDAVIT_URL=https://b\n  DAVIT_HOST=127.0.0.1 \nno line\n',
    )
    expect(withSettings(text, {})).toBe(text)
    expect(withSettings('', { A: '1' })).toBe('A=1\n')
    expect(withSettings('B=2', { A: '1' })).toBe('B=2\nA=1\n')
  })

  test('has the last of two lines changed, which is the one that counts', () => {
    expect(withSettings('A=1\nA="2\nA=3"\n', { A: '4' })).toBe('A=1\nA=4\n')
  })
})
