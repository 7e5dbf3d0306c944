import { deleteCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { pageBefore } from './client.ts'
import { cookieOptions } from './cookies.ts'
import { factory } from './factory.ts'
import { input } from './input.ts'
import { moveOn } from './respond.tsx'
import { themeCookie, themes } from './theme.tsx'

const maxAge = 365 * 24 * 60 * 60

const themeForm = z.object({ theme: z.enum(themes, 'Must be light, dark or system.') })

/** Stores the theme of this browser, whoever is logged in. */
export const themeRoutes = (config: Pick<Config, 'url'>) =>
  factory.createApp().post('/theme', input(themeForm), (c) => {
    const { theme } = c.var.input
    const options = cookieOptions(c, config)
    if (theme === 'system') deleteCookie(c, themeCookie, options)
    else setCookie(c, themeCookie, theme, { ...options, maxAge })
    return moveOn(c, { to: pageBefore(c, config) ?? '/', json: () => ({ theme }) })
  })
