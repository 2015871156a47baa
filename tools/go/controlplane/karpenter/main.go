// Command karpenter is Karpenter with its kwok provider and a market that can run dry.
package main

import (
	"os"

	"sigs.k8s.io/controller-runtime/pkg/log"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

func main() {
	ctx, op := operator.NewOperator()
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "no instance types", "file", os.Getenv("INSTANCE_TYPES_FILE_PATH"))
		os.Exit(1)
	}
	cloud := newMarket(ctx, op.GetClient(), types, os.Getenv("MARKET_FILE_PATH"))
	decorated := overlay.Decorate(cloud, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), decorated)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, decorated, cloud, cluster, op.InstanceTypeStore,
	)...).Start(ctx)
}
