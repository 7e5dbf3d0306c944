/** Names of variables that one keeps to oneself; browsers apply it, too. */
export const secretNames =
  /PASS(WORD|WD|PHRASE)?\d*(_|$)|PWD|SECRET|TOKEN|CREDENTIAL|(API|APP|PRIVATE|ENCRYPTION|ACCESS|SIGNING|MASTER)_?KEY|(^|[^C]_|[^I]C_)KEY$|DSN(_|$)|(DATABASE|DB|REDIS|MONGO|AMQP)_UR[IL]/i

/** Whether a variable of that name is one to keep to oneself. */
export const looksSecret = (name: string) => secretNames.test(name)

/** What looks secret in the environment (`KEY=value`) of a container of a service. */
export const secretsInEnv = (env: string[]) =>
  env.flatMap((entry) => {
    const at = entry.indexOf('=')
    const value = entry.slice(at + 1)
    return looksSecret(entry.slice(0, at)) && !isPlain.test(value) ? [value] : []
  })

/** What is set beside secrets under names like theirs: switches, counts and paths of files. */
const isPlain = /^(true|false|none|\d{1,5}|\/.*)$/i
