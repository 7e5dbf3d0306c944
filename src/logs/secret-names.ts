/** Names of variables that are probably secret; also used in the browser. */
export const secretNames =
  /PASS(WORD|WD|PHRASE)?\d*(_|$)|PWD|SECRET|TOKEN|CREDENTIAL|(API|APP|PRIVATE|ENCRYPTION|ACCESS|SIGNING|MASTER)_?KEY|(^|[^C]_|[^I]C_)KEY$|DSN(_|$)|(DATABASE|DB|REDIS|MONGO|AMQP)_UR[IL]/i

export const looksSecret = (name: string) => secretNames.test(name)

/** Returns values that look secret in a container's environment (`KEY=value`). */
export const secretsInEnv = (env: string[]) =>
  env.flatMap((entry) => {
    const at = entry.indexOf('=')
    const value = entry.slice(at + 1)
    return looksSecret(entry.slice(0, at)) && !isPlain.test(value) ? [value] : []
  })

/** Values that are set under similar names, but aren't secret: switches, counts and paths. */
const isPlain = /^(true|false|none|\d{1,5}|\/.*)$/i
