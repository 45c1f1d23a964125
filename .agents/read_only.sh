# shellcheck shell=bash
# The rules of what coding agents may run. The programs in bin/ source this file, and only this file has rules.
# A rule lists what may run. Everything else is refused with one sentence. Written for bash 3.2, which macOS has.
set -euo pipefail

LANGUAGE_OF_CALLER=${LC_ALL-}
LC_ALL=C
AGENTS=$(cd -P -- "${BASH_SOURCE[0]%/*}" && pwd)
ROOT=${AGENTS%/*}

# The chosen environment. Without one, gofer reads the state of this machine.
alias_name='' production=no stage='' region='' profile='' site=''
# Variables of the program that the environment decides.
settings=()
# What `run` prints behind a command that a person must run.
printed_only=''
# The rule of the present command, see check_options.
flags='' values='' outputs='' bundle='' words=0 word='.+'

refuse() { # WHAT WHY-AND-INSTEAD
  printf 'Refused %s: %s\n' "$1" "$2" >&2
  exit 2
}

quoted() { # WORD…: prints the words as one line of shell
  local line
  printf -v line '%q ' "$@"
  printf '%s' "${line% }"
}

has_argument() { # WORD ARGUMENT…
  local each
  for each in "${@:2}"; do
    [[ $each != "$1" ]] || return 0
  done
  return 1
}

is_one_of() { # WORD LIST
  local each
  for each in $2; do
    [[ $each != "$1" ]] || return 0
  done
  return 1
}

check_characters() { # ARGUMENT…
  local argument
  for argument; do
    [[ $argument != *[[:cntrl:]]* ]] ||
      refuse "$(quoted "$argument")" 'it has a line break or another control character; write it in one line.'
  done
}

# --- Environments -------------------------------------------------------------------------------------------------

choose_environment() { # @ALIAS
  local name rest known='' plain='^[A-Za-z0-9][A-Za-z0-9._-]*$'
  local datadog='^([a-z0-9]+\.)?(datadoghq\.com|datadoghq\.eu|ddog-gov\.com)$'
  alias_name=${1#@}
  while read -r name production stage region profile site rest || [[ -n $name ]]; do
    [[ -n $name && $name != '#'* ]] || continue
    known="$known @$name"
    [[ $name == "$alias_name" ]] || continue
    [[ $stage =~ $plain && $region =~ $plain && $profile =~ $plain && $site =~ $datadog && -z $rest ]] ||
      refuse "@$alias_name" 'its row in .agents/environments is incomplete; ask a maintainer to correct it.'
    return 0
  done <"$AGENTS/environments"
  refuse "$(quoted "$1")" "no row of .agents/environments has this alias; use one of:$known."
}

# --- Options ------------------------------------------------------------------------------------------------------

check_output() { # WHAT FILE
  local name='^[A-Za-z0-9_][A-Za-z0-9._-]*$' file=${2#.agents/tmp/}
  [[ $2 == .agents/tmp/* && $file =~ $name && ! -L $AGENTS/tmp && ! -L $AGENTS/tmp/$file ]] ||
    refuse "$(quoted "$2") of $1" 'files may only be written to .agents/tmp/; name one there, such as .agents/tmp/report.json.'
}

check_value() { # WHAT OPTION VALUE
  [[ $3 != -* ]] || refuse "$2 of $1" 'a value follows it, and no other option; write the value.'
  if is_one_of "$2" "$outputs"; then
    check_output "$1" "$3"
  elif [[ $3 == *://* ]]; then
    refuse "$2 of $1" 'its value may be read from a file or a URL; write the value itself.'
  fi
}

# Check the arguments of a command against its rule: `flags` take no value, `values` take one, `outputs` take a file,
# `bundle` holds the letters of short flags, and at most `words` others match the pattern `word`.
check_options() { # WHAT ARGUMENT…
  local what=$1 argument option count=0 letters="^-[$bundle]+\$"
  shift
  while (($#)); do
    argument=$1 option=${1%%=*}
    shift
    if [[ $argument != -* ]]; then
      ((++count <= words)) && [[ $argument =~ ^($word)$ ]] ||
        refuse "$(quoted "$argument") of $what" 'this command takes no such argument here; leave it out.'
    elif [[ $argument == --*=* ]] && is_one_of "$option" "$values $outputs"; then
      check_value "$what" "$option" "${argument#*=}"
    elif is_one_of "$argument" "$values $outputs"; then
      (($#)) || refuse "$argument of $what" 'a value follows it; write the value.'
      check_value "$what" "$argument" "$1"
      shift
    elif ! is_one_of "$argument" "$flags" && ! [[ -n $bundle && $argument =~ $letters ]]; then
      refuse "$(quoted "$argument") of $what" \
        "it is not among the options that only read ($(options_that_read)); leave it out, or ask a maintainer to run the command."
    fi
  done
}

options_that_read() {
  local each list=''
  for each in $flags $values $outputs; do
    list="$list $each"
  done
  printf '%s' "${list# }"
}

# --- Programs -----------------------------------------------------------------------------------------------------

path_without_wrappers() {
  local folder rest=$PATH: kept=''
  while [[ -n $rest ]]; do
    folder=${rest%%:*} rest=${rest#*:}
    [[ $folder == /* && ! $folder -ef $AGENTS/bin ]] && kept="$kept:$folder"
  done
  printf '%s' "${kept#:}"
}

# Replace this process by the program, which gets `settings` and of the caller's variables only those named here. On
# production, print the command instead.
run() { # PROGRAM ARGUMENT…
  local asked=$1 program=$1 name
  shift
  if [[ $production != no ]]; then
    quoted ${settings[@]+"${settings[@]}"} "$program" "$@"
    printf '%s\n' "$printed_only"
    printf '@%s is production, so the command above did not run: give it to a maintainer to review and run.\n' "$alias_name" >&2
    exit 3
  fi
  PATH=$(path_without_wrappers)
  if [[ $program == gofer && -x $ROOT/.venv/bin/gofer ]]; then
    program=$ROOT/.venv/bin/gofer
  else
    program=$(type -P "$asked") || refuse "$asked" 'the program is not installed; ask a maintainer to install it.'
  fi
  [[ $program != *=* ]] || refuse "$program" 'a folder of its path has an equals sign; ask a maintainer to move it.'
  for name in HOME PATH USER LOGNAME LANG TERM TZ TMPDIR GOFER_DATA; do
    [[ -z ${!name+set} ]] || settings+=("$name=${!name}")
  done
  # Empty values keep those of .env from leading to another installation.
  settings+=(GOFER_TABLE= AWS_ENDPOINT_URL= AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true AWS_PAGER=)
  cd -- "$ROOT"
  exec /usr/bin/env -i "LC_ALL=$LANGUAGE_OF_CALLER" "${settings[@]}" "$program" "$@"
}

# --- gofer --------------------------------------------------------------------------------------------------------

run_gofer() { # [@ALIAS] COMMAND ARGUMENT…
  check_characters "$@"
  if [[ ${1-} == @* ]]; then
    choose_environment "$1"
    shift
  fi
  local command=${1-}
  (($#)) && shift
  flags='--json --help'
  case $command in
    runs)
      flags+=' --conversations --stuck'
      values='--around --since --workflow --status --channel --person --tool --skill --check --text --limit'
      ;;
    stats) values='--since --by' ;;
    candidates) flags+=' --prompts' values='--days' ;;
    trace) flags+=' --full' words=1 ;;
    health) words=1 ;;
    diff) words=2 ;;
    replay) flags+=' --step' values='--prompt --override --until --permute' words=1 ;;
    export)
      has_argument --json "$@" || refuse 'gofer export' 'without --json it sends spans to a collector; add --json.'
      values='--since' words=100
      ;;
    eval) gofer_eval_rule ;;
    docs) flags='--help' words=1 ;;
    check) flags+=' --models --sarif' words=100 ;;
    explain) values='--source --header --hook --path' words=100 ;;
    schema) flags='--help --defaults --subagent --eval' ;;
    promote) values='--runs --verify' outputs='--out' words=1 ;;
    *)
      refuse "gofer $(quoted "$command")" 'it is not among the commands that only read; write the command down, and ask a maintainer to run it.'
      ;;
  esac
  check_options "gofer $command" "$@"
  if [[ -n $stage ]]; then
    settings=("AWS_REGION=$region" "AWS_DEFAULT_REGION=$region")
    set -- --stage "$stage" --profile "$profile" "$@"
  fi
  run gofer "$command" "$@"
}

# --json of gofer eval takes the next argument as a file, so here it must have one.
gofer_eval_rule() {
  flags='--affected --help'
  values='--repeat --tag --changed --baseline --history --inconclusive'
  outputs='--json --junit --markdown --html'
  words=100
}

# --- aws ----------------------------------------------------------------------------------------------------------

run_aws() { # @ALIAS SERVICE OPERATION ARGUMENT…
  check_characters "$@"
  [[ ${1-} == @* ]] || refuse 'aws without an environment' 'begin with its alias, as in .agents/bin/aws @staging sts get-caller-identity.'
  choose_environment "$1"
  shift
  local command="${1-} ${2-}" time='--start-time --end-time'
  flags='--no-paginate'
  values='--query --output'
  case $command in
    'sts get-caller-identity') ;;
    'cloudformation describe-stacks') values+=' --stack-name' ;;
    'cloudwatch describe-alarms') values+=' --state-value --alarm-name-prefix --max-items' ;;
    'cloudwatch get-metric-statistics')
      values+=" --namespace --metric-name --dimensions --period --statistics $time"
      ;;
    'logs describe-log-groups') values+=' --log-group-name-prefix --max-items' ;;
    'logs start-query') values+=" --log-group-name --query-string --limit $time" ;;
    'logs get-query-results') values+=' --query-id' ;;
    'logs filter-log-events') values+=" --log-group-name --filter-pattern --max-items --starting-token $time" ;;
    *)
      refuse "aws $(quoted "${1-}" "${2-}")" 'it is not among the operations that only read; write the command down, and ask a maintainer to run it.'
      ;;
  esac
  check_options "aws $command" "${@:3}"
  check_aws_aliases
  # Version 1 of the AWS CLI reads AWS_DEFAULT_REGION, and version 2 prefers AWS_REGION.
  settings=("AWS_PROFILE=$profile" "AWS_REGION=$region" "AWS_DEFAULT_REGION=$region")
  run aws "$@"
}

# An alias of the AWS CLI can replace an operation by any shell command.
check_aws_aliases() {
  local line pattern='^[[:space:]]*(sts|cloudformation|cloudwatch|logs)[[:space:]]*=|^[[:space:]]*\[[[:space:]]*command'
  [[ -e ${HOME-}/.aws/cli/alias ]] || return 0
  while read -r line || [[ -n $line ]]; do
    [[ ! $line =~ $pattern ]] ||
      refuse 'aws' 'an alias in ~/.aws/cli/alias gives these commands another meaning; remove it, or ask a maintainer to run the command.'
  done <"$HOME/.aws/cli/alias"
}

# --- curl ---------------------------------------------------------------------------------------------------------

run_curl() { # OPTION… URL of Gofer on this machine
  check_characters "$@"
  flags='--silent --show-error --fail --include --head'
  values='--max-time'
  outputs='-o --output'
  bundle='sSfiI'
  words=1
  word='http://(127\.0\.0\.1|localhost)(:[0-9]{1,5})?/(healthz|runs[A-Za-z0-9._/?&=-]*)'
  [[ $# -gt 0 && "$*" != *..* ]] || refuse 'curl' 'it reads pages of runs on this machine only; give one URL such as http://127.0.0.1:8765/runs.'
  check_options 'curl' "$@"
  # -q ignores ~/.curlrc. The API answers with JSON only if it is asked to.
  run curl -q --header 'Accept: application/json' "$@"
}

# --- Datadog ------------------------------------------------------------------------------------------------------

run_datadog() { # @ALIAS spans --query QUERY [--from TIME] [--to TIME] [--limit N] [--cursor CURSOR]
  check_characters "$@"
  [[ ${1-} == @* ]] || refuse 'datadog without an environment' 'begin with its alias, as in .agents/bin/datadog @staging spans --query ml_app:gofer.'
  choose_environment "$1"
  [[ ${2-} == spans ]] || refuse "datadog $(quoted "${2-}")" 'it reads spans only; write spans, and ask a maintainer for anything else.'
  shift 2
  values='--query --from --to --limit --cursor'
  check_options 'datadog spans' "$@"
  local fields=() key=${DD_API_KEY-} application_key=${DD_APP_KEY-} plain='^[A-Za-z0-9_-]+$'
  while (($#)); do
    case $1 in
      --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
      --limit | --cursor) fields+=(--data-urlencode "page[${1#--}]=$2") && shift 2 ;;
      *) fields+=(--data-urlencode "filter[${1#--}]=$2") && shift 2 ;;
    esac
  done
  # A person's shell expands the names of the keys.
  # shellcheck disable=SC2016
  printed_only=' --header "DD-API-KEY: $DD_API_KEY" --header "DD-APPLICATION-KEY: $DD_APP_KEY"'
  set -- -q --silent --show-error --fail --get ${fields[@]+"${fields[@]}"} "https://api.$site/api/v2/llm-obs/v1/spans/events"
  if [[ $production == no ]]; then
    [[ $key =~ $plain && $application_key =~ $plain ]] ||
      refuse 'datadog' 'DD_API_KEY and DD_APP_KEY are not set, or hold other characters than letters and digits; ask a maintainer for keys that may only read.'
    # The keys go through standard input, because every process of this machine can read arguments.
    run curl "$@" --config - < <(printf 'header = "%s"\n' "DD-API-KEY: $key" "DD-APPLICATION-KEY: $application_key")
  fi
  run curl "$@"
}
