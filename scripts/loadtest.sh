# ./dev loadtest: what it needs, then loadtest/run.py. Sourced after k6.sh.

# loadtest <arguments…>: as ./dev help says.
loadtest() {
  case " $* " in
    *" --tokens"*)
      [ -f "$RUN_DIR/lab.env" ] || die "no lab is running here: start one with './dev run --lab'."
      LAB_ENV=$RUN_DIR/lab.env exec loadtest/run.py "$@"
      ;;
    *" --help "* | *" -h "*) exec loadtest/run.py "$@" ;;
  esac
  local targets=(festabook history_check)
  case " $* " in *" --faults"*) targets+=(festabook_next) ;; esac
  build release "${targets[@]}"
  ensure_k6
  K6=$K6 FESTA_RUN_DIR=${FESTA_RUN_DIR:-$ROOT/.run/loadtest} exec loadtest/run.py "$@"
}
